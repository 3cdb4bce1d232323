// The report of a block that has not ended names its service, even before the SDK's first export.
import type { Span } from '@opentelemetry/api';
import { resources } from '@opentelemetry/sdk-node';
import { resourceAttributes } from '../../src/otel.ts';

const { emptyResource, resourceFromAttributes } = resources;
const spanWith = (resource: unknown) => ({ resource }) as unknown as Span;

test('attributes that are still being found out are missing, all others are there', () => {
  const detected = resourceFromAttributes({
    'service.name': 'shop',
    'host.id': new Promise<string>(() => {}),
    'host.name': 'here',
  });
  expect(detected.asyncAttributesPending).toBe(true);
  expect(resourceAttributes(spanWith(detected))).toEqual({ 'service.name': 'shop', 'host.name': 'here' });
});

test('of two values of one name the one counts that the SDK takes', () => {
  const pending = resourceFromAttributes({ 'host.id': Promise.resolve('1'), 'service.name': 'default' });
  const merged = pending.merge(resourceFromAttributes({ 'service.name': 'shop' }));
  expect(merged.asyncAttributesPending).toBe(true);
  expect(resourceAttributes(spanWith(merged))).toEqual({ 'service.name': 'shop' });
});

test('settled ones are taken as they are', async () => {
  const settled = emptyResource().merge(resourceFromAttributes({ 'host.id': Promise.resolve('1') }));
  await settled.waitForAsyncAttributes?.();
  expect(resourceAttributes(spanWith(settled))).toEqual({ 'host.id': '1' });
});

test('a pending resource of another implementation tells nothing', () => {
  expect(resourceAttributes(spanWith({ asyncAttributesPending: true }))).toEqual({});
});
