import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { AskedModules } from '../../src/register/asked-modules.ts';

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

test('nothing else is', () => {
  const { modules } = asked('pg', '@redis/client', 'http');
  for (const specifier of ['pg-pool', '@redis/json', '@redis', './pg', './pg.js', '#pg', FILE]) {
    expect([specifier, modules.includes(FILE, specifier)]).toEqual([specifier, false]);
  }
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

test('a built-in module is not part of another', () => {
  const { modules } = asked('fs');
  expect(modules.includes('node:fs/promises', 'fs/promises')).toBe(false);
});

test('a file that is asked for by its path is included, however it is imported', () => {
  const file = path.resolve('handler.mjs');
  const { modules } = asked(file);
  expect(modules.includes(pathToFileURL(file).href, './handler.mjs')).toBe(true);
  expect(modules.includes(FILE, './index.js')).toBe(false);
  expect(modules.names()).toEqual([]);
});

test('what is asked for later is included from then on', () => {
  const { modules, ask } = asked('pg');
  expect(modules.includes(FILE, 'koa')).toBe(false);
  ask.postMessage(['koa']);
  expect(modules.includes(FILE, 'koa')).toBe(true);
  expect(modules.names()).toEqual(['pg', 'koa']);
});
