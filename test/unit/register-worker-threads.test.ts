import { isThreadWanted, withOwnInstanceId } from '../../src/entries/register/worker-threads.ts';

const WANTED = 'OTEL_INSTRUMENTATION_EVENT_LOOP_WORKERS';

test.each([
  ['the main thread', {}, true, true],
  ['a worker', {}, false, false],
  ['a worker that is asked for', { [WANTED]: ' True ' }, false, true],
  ['a worker that is not', { [WANTED]: 'false' }, false, false],
])('%s: wanted or not', (_what, env, isMain, wanted) => {
  expect(isThreadWanted(env, isMain)).toBe(wanted);
});

const attributesIn = (env: Record<string, string | undefined>, isMain = false) =>
  withOwnInstanceId(() => env['OTEL_RESOURCE_ATTRIBUTES'], env, isMain);

test('a worker has an id of its own, each time another, beside the other attributes', () => {
  const given = 'service.instance.id=pod-1, team=a,,service.namespace=b';
  const env = { OTEL_RESOURCE_ATTRIBUTES: given };
  const found = attributesIn(env);
  expect(found).toMatch(/^ team=a,service\.namespace=b,service\.instance\.id=[0-9a-f-]{36}$/);
  expect(attributesIn(env)).not.toBe(found);
  expect(env.OTEL_RESOURCE_ATTRIBUTES).toBe(given);
});

test('the environment is as before, whatever the start does', () => {
  const env: Record<string, string | undefined> = {};
  const fail = () => {
    throw new Error('no SDK');
  };
  expect(() => withOwnInstanceId(fail, env, false)).toThrow('no SDK');
  expect(env).toEqual({});
});

test('the main thread has the id that it is given', () => {
  const env = { OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=pod-1' };
  expect(attributesIn(env, true)).toBe('service.instance.id=pod-1');
});
