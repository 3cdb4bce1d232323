/** `dd-trace` as the OpenTelemetry provider: its own instrumentations make the request's spans. */
const tracer = require('dd-trace').init({ flushInterval: 100 });
const provider = new tracer.TracerProvider();
provider.register();
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

registerInstrumentations({ instrumentations: [new EventLoopInstrumentation()] });
const { expressService } = require('./support/express-service.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(expressService(), () => provider.forceFlush());
