// Blocks that were once named by the wrong code. Each runs in a span of its own, of that name.
const childProcess = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setImmediate: turnOfLoop } = require('node:timers/promises');
const { trace } = require('@opentelemetry/api');
const bcrypt = require('bcrypt');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const { alone, eventLoopConfig, finish, note, startSdk } = require('./support/telemetry.cjs');

const instrumentation = new EventLoopInstrumentation(eventLoopConfig());
const sdk = startSdk({ instrumentations: [instrumentation] });

function compute(millis) {
  const goesOn = running(millis);
  let sum = 0;
  while (goesOn()) for (let i = 0; i < 10_000; i++) sum += Math.sqrt(sum + 1);
  return sum;
}

/** About 0.1 s of computing, then most of a second in native code. */
function checkRows() {
  compute(95);
}
function deriveKey() {
  return crypto.scryptSync('secret', 'salt', 64, { N: 2 ** 18, maxmem: 2 ** 30 });
}
function checkThenDerive() {
  checkRows();
  deriveKey();
}

const text = JSON.stringify(Array.from({ length: 800_000 }, (_, id) => ({ id, name: `n${id}` })));
function loadOrders() {
  return JSON.parse(text);
}

function runShell() {
  return childProcess.execSync('sleep 0.3');
}

/**
 * In a native add-on, which was loaded before anything was wrapped; of it nothing is on the stack
 * afterwards.
 */
const { hashSync } = bcrypt;
function hashPassword() {
  return hashSync('secret', 12);
}

/** An add-on that the package does not know, in the last expression: loaded after it. */
const swc = require('@swc/core');
const source = Array.from({ length: 4000 }, (_, i) => `export const f${i} = (a) => a?.b ?? ${i};`);
function transpile(text = source.join('\n')) {
  return swc.transformSync(text, { jsc: { target: 'es5' } });
}

/** A package, beside the application. */
const packages = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'names-')), 'node_modules');
function install(name, source, dependencies = {}) {
  const folder = path.join(packages, name);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, dependencies }));
  const file = path.join(folder, 'index.js');
  fs.writeFileSync(file, `'use strict';\n${source}`);
  return file;
}
const { cloneDeep } = require(
  install(
    'cloner',
    `const copy = (value) => Array.isArray(value) ? value.map(baseCopy)
       : typeof value === 'object' ? assignAll({}, value) : value;
     function baseCopy(value) { return copy(value); }
     function assignAll(target, source) {
       for (const key of Object.keys(source)) target[key] = baseCopy(source[key]);
       return target;
     }
     exports.cloneDeep = (value) => baseCopy(value);`,
  ),
);
const table = Array.from({ length: 120_000 }, (_, id) => ({ id, tags: [id, { deep: { id } }] }));
function copyTable() {
  for (const goesOn = running(150); goesOn(); ) cloneDeep(table);
}

/** A package that goes on in a promise reaction, as parsers of streams do. */
const { parseSoon } = require(
  install(
    'soon',
    `const { running } = require(${JSON.stringify(require.resolve('../../support/thread-times.cjs'))});
     function parseAll(millis) {
       for (const goesOn = running(millis); goesOn(); ) for (let i = 0; i < 1e5; i++);
     }
     exports.parseSoon = async (millis) => {
       await undefined;
       parseAll(millis);
     };`,
  ),
);
async function importRows() {
  await parseSoon(200);
  return 'imported';
}

/** Each `await` takes 50 ns: V8 interrupts such a chain nearly always between two reactions. */
const prices = new Map(Array.from({ length: 1000 }, (_, id) => [id, id * 1.19]));
const cache = {
  async get(id) {
    return prices.get(id);
  },
};
let pricesRounds;
async function sumPrices(rounds) {
  let sum = 0;
  for (let round = 0; round < rounds; round++)
    for (const id of prices.keys()) sum += await cache.get(id);
  return sum;
}
/** Counted beforehand: in the chain, what asks for the time would be what V8 interrupts. */
async function roundsOf(millis) {
  let rounds = 0;
  for (const goesOn = running(millis); goesOn(); rounds++) await sumPrices(1);
  return rounds;
}
async function sumCached() {
  for (let i = 0; i < 4; i++) {
    await sumPrices(pricesRounds);
    await turnOfLoop();
  }
}

/** A script of a user, which nothing with a file has called. */
const userScript = new Function(
  'running',
  'done',
  `return function userScript() {
     for (const goesOn = running(200); goesOn(); ) for (let i = 0; i < 1e6; i++);
     done();
   }`,
);
const evaluated = () =>
  new Promise((resolve) => {
    setTimeout(userScript(running, resolve), 1);
  });

/** A package that calls the application, which calls it again: there the time is spent. */
const { each } = require(
  install(
    'each',
    `exports.each = (list, use) => {
       let sum = 0;
       for (const item of list) {
         for (let i = 0; i < 20_000; i++) sum = (sum * 31 + i) % 1_000_003;
         use(item);
       }
       return sum;
     };`,
  ),
);
const cells = Array.from({ length: 100 }, (_, i) => i);
function sumRow() {
  return each(cells, () => {});
}
function sumTable() {
  for (const goesOn = running(200); goesOn(); ) each([1], sumRow);
}

const slowModule = install(
  'slow-to-load',
  `const { running } = require(${JSON.stringify(require.resolve('../../support/thread-times.cjs'))});
   for (const goesOn = running(200); goesOn(); ) for (let i = 0; i < 1e5; i++);
   exports.ready = true;`,
);
function loadLazily() {
  return require(slowModule);
}

// (loop (br_if 0 (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (local.get 0))))
const wasm = Buffer.from(
  'AGFzbQEAAAABBgFgAX8BfwIBAAMCAQAHCAEEYnVybgAAChcBFQEBfwNAIAFBAWoiASAASQ0ACyABCw==',
  'base64',
);
const { burn } = new WebAssembly.Instance(new WebAssembly.Module(wasm)).exports;
function wasmReport() {
  for (const goesOn = running(200); goesOn(); ) burn(100_000_000);
}

const { exportLater, instrument } = require(
  install(
    '@opentelemetry/instrumentation-slow',
    `const { running } = require(${JSON.stringify(require.resolve('../../support/thread-times.cjs'))});
     const { context } = require(${JSON.stringify(require.resolve('@opentelemetry/api'))});
     const { suppressTracing } = require(${JSON.stringify(require.resolve('@opentelemetry/core'))});
     // As a batch span processor does.
     exports.exportLater = (millis, done) =>
       setTimeout(() =>
         context.with(suppressTracing(context.active()), async () => {
           await undefined;
           describe(millis);
           done();
         }),
       );
     exports.instrument = (original, millis) => function patched() {
       describe(millis);
       return original();
     };
     function describe(millis) {
       for (let i = 0, sum = 0, goesOn = running(millis); goesOn(); )
         for (i = 0; i < 1e5; i++) sum = (sum * 31 + i) % 1_000_003;
     }`,
  ),
);
const agentAround = instrument(() => compute(240), 90);

/** Calls something after each helper, as template engines do. */
const { render } = require(
  install(
    'templates',
    `const escape = (value) => value.replace(/[<>]/g, '');
     exports.render = (rows, helper) => rows.map((row) => escape(helper(row)));`,
  ),
);
function money(amount) {
  return new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(amount);
}
function localDate(millis) {
  return new Date(millis).toLocaleDateString('fr-FR', { weekday: 'long' });
}

/** Each call takes some 10 µs, and ends the function. */
function price(amount) {
  return amount.toLocaleString('de-DE', { style: 'currency', currency: 'EUR' });
}

/** A framework, which no list has. */
const { compose, listen } = require(
  install(
    'composer',
    `exports.compose = (layers) => (ctx) => dispatch(layers, ctx, 0);
     function dispatch(layers, ctx, i) {
       return call(layers[i], ctx, () => dispatch(layers, ctx, i + 1));
     }
     function call(layer, ctx, next) { return layer(ctx, next); }
     exports.listen = (handle, done) => setImmediate(() => {
       const answer = handle({});
       if (answer === undefined) done();
       else answer.then(() => setImmediate(done));
     });`,
  ),
);
/** A package that recurs, to depths that vary; what it calls at the end is the same. */
const { outline, serveOutline, serveLater } = require(
  install(
    'outlines',
    `const { running } = require(${JSON.stringify(require.resolve('../../support/thread-times.cjs'))});
     function section(depth) { return depth === 0 ? measure() : children(depth - 1); }
     function children(depth) { return [depth].map((each) => section(each))[0]; }
     function measure() {
       let text = '';
       for (let i = 0; i < 10_000; i++) text = String(i).padStart(9, text.slice(0, 3));
       return text;
     }
     exports.outline = (millis) => {
       for (let goesOn = running(millis), i = 0; goesOn(); i++) section(5 + (i % 90));
     };
     exports.serveOutline = (ctx, next) => {
       exports.outline(200);
       return next();
     };
     exports.serveLater = async (ctx) => {
       await undefined;
       exports.outline(200);
     };`,
  ),
);
const { serveReport } = require(
  install(
    'reports',
    `const { serveLater } = require('../outlines');
     exports.serveReport = async (ctx) => {
       await serveLater(ctx);
     };`,
    { outlines: '*' },
  ),
);
function countVisits(ctx, next) {
  ctx.visits = 1;
  return next();
}
async function requestTimer(_ctx, next) {
  await next();
}
function renderReport() {
  outline(200);
}
const END = () => {};
const served = (layers) => new Promise((resolve) => listen(compose(layers), resolve));

const CASES = {
  checkThenDerive,
  loadOrders,
  runShell,
  hashPassword,
  transpile,
  money: () =>
    render(
      Array.from({ length: 6000 }, (_, i) => i),
      money,
    ),
  localDate: () =>
    render(
      Array.from({ length: 4000 }, (_, i) => i),
      localDate,
    ),
  price: () =>
    render(
      Array.from({ length: 15_000 }, (_, i) => i),
      price,
    ),
  handlerBelow: () => served([countVisits, countVisits, renderReport]),
  packageBelow: () => served([countVisits, countVisits, serveOutline, END]),
  packageLater: () => served([requestTimer, requestTimer, serveLater]),
  packageAwaits: () => served([requestTimer, requestTimer, serveReport]),
  copyTable,
  importRows,
  sumCached,
  evaluated,
  sumTable,
  loadLazily,
  wasmReport,
  agentAround,
  'first anonymous': () => compute(150),
  'second anonymous': () => compute(150),
};

async function main() {
  // Waiting for that keeps no process alive.
  const keepAlive = setInterval(() => {}, 1000);
  await instrumentation.ready();
  clearInterval(keepAlive);
  note('slow module', slowModule);
  await roundsOf(100);
  await turnOfLoop();
  pricesRounds = await roundsOf(250);
  for (const [name, run] of Object.entries(CASES)) {
    await alone(() =>
      trace.getTracer('names').startActiveSpan(name, async (span) => {
        await run();
        span.end();
      }),
    );
  }
  await alone(
    () =>
      new Promise((resolve) =>
        trace.getTracer('names').startActiveSpan('ticks', (span) => {
          compute(700);
          process.nextTick(function firstTick() {
            compute(160);
            process.nextTick(function secondTick() {
              compute(220);
              span.end();
              resolve();
            });
          });
        }),
      ),
  );
  await alone(
    () =>
      new Promise((resolve) =>
        trace.getTracer('names').startActiveSpan('exported', (span) => {
          span.end();
          exportLater(240, resolve);
        }),
      ),
  );
  await finish(sdk);
}

main();
