import { AsyncResource, createHook, executionAsyncId } from 'node:async_hooks';
import { pbkdf2, randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { readFile, stat } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import {
  contextOf,
  resourceTypeOf,
  takeResource,
} from '../../src/core/record/hooks/resource-classes.ts';

/**
 * What real async_hooks say of every resource whose callback runs meanwhile, beside what we say.
 */
async function observe(work: () => Promise<unknown>) {
  const types = new Map<number, string>();
  const observed = new Map<string, Set<string>>();
  const hook = createHook({
    init(asyncId, type) {
      types.set(asyncId, type);
    },
    before(asyncId) {
      const type = types.get(asyncId);
      if (type === undefined || asyncId !== executionAsyncId()) return;
      const { drain, type: typeOf } = takeResource();
      const said = `${[drain(), typeOf()].join(' ').trim()}`;
      if (!observed.has(type)) observed.set(type, new Set());
      observed.get(type)?.add(said);
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return Object.fromEntries([...observed].map(([type, said]) => [type, [...said]]));
}

const run = (start: (done: () => void) => void) =>
  new Promise<void>((resolve) => start(() => resolve()));

test('callbacks of the platform', async () => {
  const observed = await observe(async () => {
    await run((done) => setTimeout(done, 1));
    await run((done) => setImmediate(done));
    await run((done) => readFile(__filename, done));
    await run((done) => stat('/', done));
    await run((done) => lookup('localhost', done));
    await run((done) => gzip('x', done));
    await run((done) => pbkdf2('a', 'b', 1, 8, 'sha1', done));
    await run((done) => randomBytes(8, done));
    const { port1, port2 } = new MessageChannel();
    await run((done) => {
      port1.on('message', done);
      port2.postMessage(1);
    });
    port1.close();
    const server = createServer((_req, res) => res.end('x'));
    await run((done) => server.listen(0, '127.0.0.1', done));
    await run((done) =>
      get(
        { host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false },
        (res) => res.resume().on('end', done),
      ),
    );
    await run((done) => server.close(() => done()));
  });
  for (const type of [
    'Timeout',
    'Immediate',
    'FSREQCALLBACK',
    'GETADDRINFOREQWRAP',
    'ZLIB',
    'PBKDF2REQUEST',
    'RANDOMBYTESREQUEST',
    'MESSAGEPORT',
    'HTTPCLIENTREQUEST',
    'TCPCONNECTWRAP',
  ]) {
    expect([type, observed[type]]).toEqual([type, [type]]);
  }
  expect(observed['HTTPINCOMINGMESSAGE']).toEqual(['HTTPINCOMINGMESSAGE']);
});

test('what runs in a drain', async () => {
  const observed = await observe(async () => {
    await run((done) => process.nextTick(done));
    await run((done) => queueMicrotask(done));
    await Promise.resolve();
    new AsyncResource('Mine').runInAsyncScope(() => {});
  });
  expect(observed).toMatchObject({
    TickObject: ['tick TickObject'],
    PROMISE: ['reaction PROMISE'],
    Microtask: ['reaction AsyncResource'],
    Mine: ['AsyncResource'],
  });
});

test('no getter and no proxy of the application is called to name a resource', () => {
  let calls = 0;
  const called = () => ++calls;
  class Job extends AsyncResource {}
  Object.defineProperty(Job.prototype, 'constructor', { get: called });
  class Named extends AsyncResource {}
  Object.defineProperty(Named, 'name', { get: called });
  const traps = { get: called, getOwnPropertyDescriptor: called, getPrototypeOf: called } as object;
  for (const resource of [
    new Job('JOB'),
    new Named('NAMED'),
    new Proxy({}, traps),
    Object.create(new Proxy({}, traps)) as object,
  ])
    expect(resourceTypeOf(resource)).toBeUndefined();
  expect(calls).toBe(0);
});

test('the hooks of an application see each run of its AsyncResource once', () => {
  const job = new AsyncResource('JOB');
  const seen: string[] = [];
  const hook = createHook({
    before: (id) => void (id === job.asyncId() && seen.push('before')),
    after: (id) => void (id === job.asyncId() && seen.push('after')),
  }).enable();
  job.runInAsyncScope(() => contextOf(job));
  hook.disable();
  expect(seen).toEqual(['before', 'after']);
});
