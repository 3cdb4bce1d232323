/** NestJS on Express, with what TypeScript would make of the decorators. */
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { NestInstrumentation } = require('@opentelemetry/instrumentation-nestjs-core');
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk(new ExpressInstrumentation(), new NestInstrumentation());
require('reflect-metadata');
const { Controller, Get, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { serveUntilInputEnds } = require('./support/serve.cjs');
const { block, blockInSteps, warm } = require('./support/work.cjs');

class OrdersController {
  warm() {
    return warm();
  }
  handler() {
    return block();
  }
  steps() {
    return blockInSteps();
  }
}
for (const route of ['warm', 'handler', 'steps']) {
  const descriptor = Object.getOwnPropertyDescriptor(OrdersController.prototype, route);
  Get(`/${route}`)(OrdersController.prototype, route, descriptor);
}
Controller()(OrdersController);

class OrdersModule {}
Module({ controllers: [OrdersController] })(OrdersModule);

(async () => {
  const app = await NestFactory.create(OrdersModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  await serveUntilInputEnds(app.getHttpServer().address().port, async () => {
    await app.close();
    await shutdown();
  });
})();
