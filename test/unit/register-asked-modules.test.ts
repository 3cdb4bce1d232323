import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { AskedModules } from '../../src/entries/register/asked-modules.ts';

const FILE = pathToFileURL(path.resolve('node_modules', 'some-package', 'index.js')).href;

const channels: MessageChannel[] = [];
afterEach(() => {
  for (const { port1 } of channels.splice(0)) port1.close();
});

function asked(...names: string[]) {
  const channel = new MessageChannel();
  channels.push(channel);
  channel.port1.postMessage(names);
  return { modules: new AskedModules(channel.port2), ask: channel.port1 };
}

test('a package that is asked for is included, and what is imported of it by name', () => {
  const { modules } = asked('pg', '@redis/client');
  expect(modules.includes(FILE, 'pg')).toBe(true);
  expect(modules.includes(FILE, 'pg/lib/client.js')).toBe(true);
  expect(modules.includes(FILE, '@redis/client')).toBe(true);
  expect(modules.includes(FILE, '@redis/client/dist/lib')).toBe(true);
});

test.each([
  ['http', 'http'],
  ['http', 'node:http'],
  ['node:http', 'http'],
])('built-in module: asked for as %s, imported as %s', (name, specifier) => {
  const { modules } = asked(name);
  expect(modules.includes('node:http', specifier)).toBe(true);
  expect(modules.includes('node:https', 'node:https')).toBe(false);
});

test('what is asked for later is included from then on', () => {
  const { modules, ask } = asked('pg');
  expect(modules.includes(FILE, 'koa')).toBe(false);
  ask.postMessage(['koa']);
  expect(modules.includes(FILE, 'koa')).toBe(true);
  expect(modules.names()).toEqual(['pg', 'koa']);
});
