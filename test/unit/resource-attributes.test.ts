// The report of a block that has not ended names its service, even before the SDK's first export.
import { context, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { EventLoopSpanProcessor } from '../../src/index.ts';
import { resourceAttributes } from '../../src/otel/sdk-internals.ts';

const SERVICE = { 'service.name': 'shop', 'host.name': 'here' };
let sdk: NodeSDK | undefined;

/** A span of an SDK that has just been started, whose resource is what the detector finds. */
function firstSpan(attributes: Record<string, string | Promise<string>>) {
  sdk = new NodeSDK({
    resourceDetectors: [{ detect: () => ({ attributes }) }],
    serviceName: 'shop',
    spanProcessors: [new EventLoopSpanProcessor()],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  sdk.start();
  return trace.getTracer('test').startSpan('request');
}

afterEach(async () => {
  await sdk?.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
});

test('attributes that are still being found out are missing, all others are there', () => {
  const span = firstSpan({ 'host.id': new Promise<string>(() => {}), 'host.name': 'here' });
  const attributes = resourceAttributes(span);
  expect(attributes).toMatchObject(SERVICE);
  expect(attributes).not.toHaveProperty(['host.id']);
  expect(resourceAttributes(undefined)).toEqual(attributes); // that of the global provider
});

test('of two values of one name the one counts that the SDK takes', () => {
  const span = firstSpan({ 'host.id': new Promise<string>(() => {}), 'service.name': 'detected' });
  expect(resourceAttributes(span)).toMatchObject({ 'service.name': 'shop' });
});

test('if nothing has to be found out, it is what the SDK says', () => {
  expect(resourceAttributes(firstSpan({ 'host.name': 'here' }))).toMatchObject(SERVICE);
});

test('long values are cut', () => {
  const long = 'x'.repeat(1e6);
  const attributes = resourceAttributes(
    firstSpan({ 'process.command': long, 'process.command_args': Array(1000).fill(long) as never }),
  );
  expect(JSON.stringify(attributes).length).toBeLessThan(1e6);
});
