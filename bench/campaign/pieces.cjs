/**
 * What a random program is made of, as code: `WORK` blocks for `millis` of CPU time; `DIRECT`,
 * `LATER` and `SHARED` call `run`, at once, later, or through what an earlier job has made.
 */
const HEAD = `
const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks');
const { exec, execFile, execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const { EventEmitter, on, once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const { PassThrough, pipeline, Readable, Transform, Writable } = require('node:stream');
const timers = require('node:timers/promises');
const { promisify } = require('node:util');
const { isMainThread, MessageChannel, Worker } = require('node:worker_threads');
const zlib = require('node:zlib');
const load = require('node:module').createRequire(${JSON.stringify(__filename)});
const { context, ROOT_CONTEXT, trace } = load('@opentelemetry/api');
const express = load('express');
const fastify = load('fastify');
const { buildSchema, graphql } = load('graphql');
const { WebSocket, WebSocketServer } = load('ws');

const { cpuMillis: now } = load('./cpu-millis.cjs');
const perMillis = (amount, work) => {
  const start = performance.now();
  work(amount);
  return amount / (performance.now() - start);
};
const derive = (iterations) => crypto.pbkdf2Sync('a', 'b', iterations, 64, 'sha512').length;
const hash = (bytes) => crypto.createHash('sha512').update(Buffer.alloc(bytes, 'a')).digest().length;
const [iterationsPerMillis, bytesPerMillis] = [perMillis(30_000, derive), perMillis(4e6, hash)];
const rows = Array.from({ length: 600 }, (_, id) => ({ id, text: 'row ' + id, tags: ['a', 'b'] }));
const page = Buffer.alloc(65_536, 'campaign');
const text = JSON.stringify(rows);
let kept = 0;

const storage = new AsyncLocalStorage();
const schema = buildSchema('type Query { total: Int }');
const elsewhere = (call) => context.with(ROOT_CONTEXT, () => setTimeout(call, 2));
const waiting = new Map();
let next = 0;
const wait = (run) => (waiting.set(String(++next), run), String(next));
const take = (id) => { const run = waiting.get(String(id)); waiting.delete(String(id)); run?.(); };
const fast = fastify();
fast.get('/:id', async ({ params }) => { take(params.id); return 'ok'; });
const app = express().use((_request, _response, next) => next());
app.get('/:id', ({ params }, response) => { take(params.id); response.end('ok'); });
app.get('/later/:id', async ({ params }, response) => {
  await timers.setTimeout(1);
  take(params.id);
  response.end('ok');
});
const server = http.createServer({ keepAliveTimeout: 600_000 }, app).listen(0, '127.0.0.1');
new WebSocketServer({ server }).on('connection', (peer) => peer.on('message', take));
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
const url = () => 'http://127.0.0.1:' + server.address().port;
const get = (path, ended = () => {}) => http.get(url() + path, { agent }, (answer) => answer.resume().on('end', ended));
process.on('uncaughtException', (error) => {
  if (error.run) return error.run();
  console.error(error);
  process.exit(1);
});

const soon = () => { const emitter = new EventEmitter(); elsewhere(() => emitter.emit('a')); return emitter; };
const echo = "const { parentPort: p } = require('worker_threads'); p.on('message', (m) => p.postMessage(m));";
const startWorker = (heard) => new Worker(echo, { eval: true, execArgv: [] }).on('message', heard);
const ports = (heard) => { const { port1, port2 } = new MessageChannel(); port1.on('message', heard); return [port2, port1]; };
const serve = (answer) => new Promise((resolve) => {
  const one = net.createServer((peer) => { one.close(); answer(peer); }).listen(0, () => resolve(net.connect(one.address().port)));
});
/** What the first job that needs it makes, and later ones use. */
const made = {};
const signalled = [];
process.on('SIGUSR2', () => { for (const run of signalled.splice(0)) run(); });
const shared = {
  socket: async () => {
    const socket = new WebSocket(url().replace('http', 'ws'));
    await once(socket, 'open');
    return (id) => socket.send(id);
  },
  port: () => { const [port] = ports(take); return (id) => port.postMessage(id); },
  worker: () => { const worker = startWorker(take); return (id) => worker.postMessage(id); },
  interval: () => { const ids = []; setInterval(() => take(ids.shift()), 4); return (id) => ids.push(id); },
  emitter: () => { const emitter = new EventEmitter().on('a', take); return (id) => elsewhere(() => emitter.emit('a', id)); },
};
const through = async (name, run) => (await (made[name] ??= shared[name]()))(wait(run));
`;

const until = (body) => `for (const end = now() + millis; now() < end; ) { ${body} }`;
/** What takes microseconds is done a hundred times for each look at the clock. */
const often = (body) => until(`for (let turn = 0; turn < 100; turn++) { ${body} }`);

const WORK = {
  arithmetic: until('for (let i = 0; i < 9999; i++) kept = Math.imul(kept ^ i, 0x01000193);'),
  'nested find': until('for (const { id } of rows) kept += rows.find((row) => row.id === id).id;'),
  'JSON both ways': until('kept += JSON.stringify(JSON.parse(text)).length;'),
  sort: until('kept += [...rows].sort((a, b) => (b.id % 7) - (a.id % 7))[0].id;'),
  regex: until("kept += /^(a+)+$/.test('aaaaaaaaaaaaaaaaab');"),
  pbkdf2Sync: 'kept += derive(Math.ceil(millis * iterationsPerMillis));',
  'one hash': 'kept += hash(Math.ceil(millis * bytesPerMillis));',
  hashes: until("kept += crypto.createHash('sha256').update(page).digest().length;"),
  gzipSync: until('kept += zlib.gzipSync(page).length;'),
  structuredClone: until('kept += structuredClone(rows).length;'),
  execFileSync: "execFileSync('sleep', [String(millis / 1000)]);",
  strings: until("kept += text.split(',').map((each) => each.trim()).join(';').length;"),
  map: until('kept += new Map(rows.map((row) => [row.text, row])).size;'),
  recursion: `const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));\n${until('fib(18);')}`,
  BigInt: often('kept += Number((3n ** 2000n) % 97n);'),
  Intl: often("kept += (kept % 1e6).toLocaleString('de-DE').length;"),
  readFileSync: until(`kept += fs.readFileSync(${JSON.stringify(__filename)}).length;`),
  'Buffer search': often("kept += page.indexOf('campaigns');"),
  allocation: until('kept += Array.from({ length: 5000 }, (_, i) => ({ i, list: [i] })).length;'),
  errors: often("try { throw new Error('row'); } catch (error) { kept += error.stack.length; }"),
  URL: often("kept += new URL('http://a.b/c?d=e#f').searchParams.get('d').length;"),
  dates: often('kept += new Date(2026, 1, 28).toISOString().length;'),
  'typed array': until('kept += Float64Array.from(rows, ({ id }) => -id).sort()[0];'),
  generator: `function* each() { yield* rows; }\n${until('for (const { id } of each()) kept += id;')}`,
  spread: until('let all = {}; for (const { id, text } of rows) all = { ...all, [text]: id };'),
  compile: often("kept += new Function('a', 'return a + ' + kept)(1) % 2;"),
  yaml: often("kept += load('yaml').parse('a: 1\\nb: [1, 2, 3]\\n').a;"),
  marked: until(
    "kept += load('marked').marked.parse('# A\\n\\n- *b* [c](d)\\n'.repeat(50)).length;",
  ),
  ajv: until("kept += new (load('ajv').default)().compile({ type: 'object' })({}) ? 1 : 0;"),
  highlight: until(
    "kept += load('highlight.js').highlight(text.slice(0, 2000), { language: 'json' }).value.length;",
  ),
  'graphql parse': often(
    "kept += load('graphql').parse('{ a(b: 1) { c d } }').definitions.length;",
  ),
  iconv: until("kept += load('iconv-lite').encode(text, 'utf16').length;"),
};

const DIRECT = {
  'array callback': '[1].forEach(() => run());',
  comparator: '[2, 1].sort(run);',
  getter: '({ get total() { return run(); } }).total;',
  toJSON: 'JSON.stringify({ toJSON: run });',
  reviver: "JSON.parse('[1]', run);",
  replacer: "'a'.replace('a', run);",
  proxy: 'new Proxy({}, { get: run }).anything;',
  'a class': 'new (class Order { constructor() { run(); } })();',
  iterator: '[...(function* () { run(); yield 1; })()];',
  bound: 'Reflect.apply(run.bind(null), null, []);',
  vm: "require('node:vm').runInThisContext('(call) => call()', { filename: 'script.vm' })(run);",
  'new Function': "new Function('call', 'call()')(run);",
  listener: "new EventEmitter().once('order', run).emit('order');",
  'abort event':
    "const c = new AbortController(); c.signal.addEventListener('abort', run); c.abort();",
  storage: 'storage.run({}, run);',
  'async resource': "new AsyncResource('Job').runInAsyncScope(run);",
  'context.with': 'context.with(context.active(), run);',
  'nested span': "trace.getTracer('a').startActiveSpan('inner', (span) => { run(); span.end(); });",
  'caught error': 'try { run(); throw new Error(); } catch {}',
  'in finally': 'try { return 1; } finally { run(); }',
  graphql: "graphql({ schema, source: '{ total }', rootValue: { total: run } });",
};

const LATER = {
  setTimeout: 'setTimeout(run, 3);',
  'setTimeout 0': 'setTimeout(run);',
  setInterval: 'const interval = setInterval(() => { clearInterval(interval); run(); }, 2);',
  'three timers': 'setTimeout(() => {}, 2); setTimeout(run, 2); setTimeout(() => {}, 2);',
  setImmediate: 'setImmediate(run);',
  nextTick: 'process.nextTick(run);',
  queueMicrotask: 'queueMicrotask(run);',
  'a then': 'Promise.resolve().then(run);',
  'finally of a promise': 'Promise.resolve().finally(run);',
  'catch of a promise': 'Promise.reject(new Error()).catch(run);',
  await: 'await null; run();',
  'twenty awaits': 'for (let i = 0; i < 20; i++) await null; run();',
  'await in callees':
    'const inner = async () => { await null; run(); }; await (async () => await inner())();',
  'Promise.all': 'await Promise.all([timers.setTimeout(2), null]); run();',
  'async generator':
    'for await (const _ of (async function* () { yield await null; yield run(); })());',
  'timers/promises': 'await timers.setTimeout(2); run();',
  'immediate promise': 'await timers.setImmediate(); run();',
  'interval iterator': 'for await (const _ of timers.setInterval(2)) return run();',
  'fs callback': 'fs.stat(__filename, run);',
  'fs promise': 'await fs.promises.readFile(__filename); run();',
  opendir: 'for await (const _ of await fs.promises.opendir(__dirname)) run();',
  'file stream': "fs.createReadStream(__filename).on('data', run);",
  randomBytes: 'crypto.randomBytes(64, run);',
  pbkdf2: "crypto.pbkdf2('a', 'b', 10, 8, 'sha1', run);",
  'promisified scrypt': "await promisify(crypto.scrypt)('a', 'b', 8); run();",
  gzip: "zlib.gzip('order', run);",
  'dns.lookup': "require('node:dns').lookup('127.0.0.1', run);",
  'exec callback': "exec('true', run);",
  'exit of a child': "execFile('true').on('exit', run);",
  'child output': "execFile('echo', ['1']).stdout.on('data', run);",
  transform:
    "Readable.from(['a']).pipe(new Transform({ transform(a, b, done) { run(); done(); } }));",
  writable: "new Writable({ write(a, b, done) { run(); done(); } }).end('a');",
  pipeline: "pipeline(Readable.from(['a']), new PassThrough().resume(), run);",
  'stream iterator': "for await (const _ of Readable.from(['a', 'b'])) run();",
  'web stream':
    'const s = new ReadableStream({ pull: (to) => to.enqueue(1) }); for await (const _ of s) return run();',
  'events.once': "await once(soon(), 'a'); run();",
  'events.on': "for await (const _ of on(soon(), 'a')) return run();",
  'bound listener': "context.bind(context.active(), soon()).once('a', run);",
  'unbound listener': "soon().once('a', run);",
  'resource elsewhere': 'elsewhere(AsyncResource.bind(run));',
  'context elsewhere': 'elsewhere(context.bind(context.active(), run));',
  'AbortSignal.timeout': "AbortSignal.timeout(3).addEventListener('abort', run);",
  'message port': 'const [to, from] = ports(() => { from.close(); run(); }); to.postMessage(1);',
  'worker message':
    'const worker = startWorker(() => { worker.unref(); run(); }); worker.postMessage(1);',
  'exit of a worker': "new Worker('', { eval: true, execArgv: [] }).on('exit', run);",
  socket: "(await serve((peer) => peer.end('a'))).on('data', run);",
  'connection listener':
    "(await serve((peer) => { peer.destroy(); run(); })).on('error', () => {});",
  'uncaught exception': 'setTimeout(() => { throw { run }; }, 2);',
  signal:
    "if (!isMainThread) return run(); signalled.push(run); process.kill(process.pid, 'SIGUSR2');",
  express: "get('/' + wait(run));",
  'express after await': "get('/later/' + wait(run));",
  fetch: "fetch(url() + '/' + wait(run));",
  fastify: "fast.inject('/' + wait(run));",
  'http client': "get('/', run);",
  'after fetch': "await (await fetch(url() + '/none')).text(); run();",
  'pooled websocket': "through('socket', run);",
  'shared port': "through('port', run);",
  'shared worker': "through('worker', run);",
  'shared interval': "through('interval', run);",
  'shared emitter': "through('emitter', run);",
};

module.exports = { HEAD, WORK, DIRECT, LATER };
