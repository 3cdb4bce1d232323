/**
 * A random program with random blockers, made by a seed, under the real SDK. It asks itself for its
 * blockers and writes a ledger of JSON lines: each blocker that ran, each delay of its own timer,
 * and what the telemetry said. `node program.cjs <seed> <blockers> <ledger>`.
 */
const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: wait } = require('node:timers/promises');
const { isMainThread, Worker } = require('node:worker_threads');
const { generator } = require('../../tools/statistics.cjs');
const { cpuMillis } = require('./cpu-millis.cjs');
const { DIRECT, HEAD, LATER, WORK } = require('./pieces.cjs');

const FUNCTIONS = 40;
const PARTS = 8;
const [seed, blockers, ledger] = process.argv.slice(2);

const random = generator(Number(seed));
const between = (low, high) => low + (high - low) * random();
const oneOf = (list) => list[Math.floor(random() * list.length)];
const happens = (share) => random() < share;

const file = fs.openSync(ledger, 'a');
const write = (line) => fs.writeSync(file, `${JSON.stringify(line)}\n`);
const monotonic = () => performance.timeOrigin + performance.now();

if (happens(0.15) && isMainThread) new Worker(__filename, { argv: process.argv.slice(2) });
else main();

async function main() {
  startSdk();
  const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api');
  const { blocks, told, ways, fetchNothing } = writeProgram();
  startWitnesses();
  const roots = new Map();

  /** One blocker: some ways in which it is called, and a span, in some place. */
  const job = (id) =>
    new Promise((resolve) => {
      const [name, millis] = [oneOf(Object.keys(blocks)), between(62, 150)];
      const shape = happens(0.75) ? 'at once' : oneOf(['awaits', 'ticks', 'immediates']);
      const spanAt = oneOf(['request', 'request', 'inner', 'ended', 'none']);
      const steps = Array.from({ length: happens(0.5) ? 1 : 2 }, () => oneOf(Object.keys(LATER)));
      if (happens(0.4)) steps.push(oneOf(Object.keys(DIRECT)));
      const way = [spanAt, ...steps, shape].join(' > ');
      const stuck = setTimeout(() => end('stuck', {}), 20_000);
      const end = (type, truth) => {
        clearTimeout(stuck);
        write({ type, id, way, shape, name, ...told[name], ...truth });
        resolve();
      };
      let root;
      const inside = once(() => {
        const run = () => {
          runs[shape](partsOf(blocks[name], millis), (truth) => end('truth', truth));
          if (spanAt === 'request') setImmediate(() => root.end());
        };
        if (spanAt !== 'inner') return run();
        trace.getTracer('campaign').startActiveSpan('inner', (span) => {
          run();
          span.end();
        });
      });
      const start = steps.reduceRight((next, step) => () => void ways[step](once(next)), inside);
      if (spanAt === 'none') return context.with(ROOT_CONTEXT, start);
      trace.getTracer('campaign').startActiveSpan('job', { root: true }, (span) => {
        root = span;
        roots.set(root.spanContext().traceId, root);
        start();
        if (spanAt !== 'request') root.end();
      });
    });

  /** Runs a share of the work; writes down when, and in which span the first one ran. */
  function partsOf(block, millis) {
    const truth = { parts: [], cpuMillis: 0, asked: millis };
    return (share) => {
      const active = trace.getActiveSpan();
      const traceId = active?.spanContext().traceId;
      truth.wallStart ??= Date.now();
      if (truth.parts.length === 0)
        Object.assign(truth, { traceId, ended: active?.ended || roots.get(traceId)?.ended });
      const [start, cpu] = [monotonic(), cpuMillis()];
      block(millis * share);
      truth.cpuMillis += cpuMillis() - cpu;
      truth.parts.push({ start, millis: monotonic() - start });
      truth.start = truth.parts[0].start;
      truth.millis = monotonic() - truth.start;
      return truth;
    };
  }

  let left = Number(blockers);
  const pause = oneOf([5, 20, 40]);
  if (happens(0.5)) setInterval(fetchNothing, between(15, 80));
  await wait(300);
  const atOnce = Array.from({ length: oneOf([1, 1, 1, 2, 3]) }, async () => {
    while (left-- > 0) {
      await job(left);
      await wait(between(0, pause));
    }
  });
  await Promise.all(atOnce);
  await wait(500);
  process.exit();
}

/** How a blocker runs: at once, or in parts that are one block together. */
const runs = {
  'at once': (part, done) => done(part(1)),
  awaits: async (part, done) => {
    for (let i = 1; i < PARTS; i++) {
      part(1 / PARTS);
      await null;
    }
    done(part(1 / PARTS));
  },
  ticks: (part, done) => {
    let left = PARTS;
    const step = () => {
      const truth = part(1 / PARTS);
      if (--left > 0) process.nextTick(step);
      else done(truth);
    };
    process.nextTick(step);
  },
  immediates: (part, done) => {
    for (let i = 1; i < PARTS; i++) setImmediate(part, 1 / PARTS);
    setImmediate(() => done(part(1 / PARTS)));
  },
};

function once(run) {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    run();
  };
}

/** Writes the program's functions and ways into a module, in random order and form; loads it. */
function writeProgram() {
  const lines = HEAD.trim().split('\n');
  const firstLine = lines.length + 1;
  const told = {};
  const names = Object.keys(WORK);
  for (let i = 0; i < FUNCTIONS; i++) {
    const kind = names[(i + Number(seed) * FUNCTIONS) % names.length];
    const name = `order${oneOf(['Total', 'Report', 'Index', 'Price'])}${i}`;
    const text = oneOf([
      (body) => `function ${name}(millis) {\n${body}\n}`,
      (body) => `const ${name} = (millis) => {\n${body}\n};`,
      (body) => `const { ${name} } = new (class Orders {\n${name}(millis) {\n${body}\n}\n})();`,
      (body) => `const { ${name} } = {\n${name}(millis) {\n${body}\n},\n};`,
    ])(WORK[kind]).split('\n');
    told[name] = { kind, firstLine, lines: [lines.length + 1, lines.length + text.length] };
    lines.push(...text);
  }
  const ways = Object.entries({ ...DIRECT, ...LATER }).map(([name, body]) => {
    const isAsync = /\bawait\b/.test(body) ? 'async ' : '';
    return `${JSON.stringify(name)}: ${isAsync}(run) => { ${body} },`;
  });
  lines.push(`const fetchNothing = () => get('/none');`);
  lines.push(
    `module.exports = { fetchNothing, blocks: { ${Object.keys(told)} }, ways: {`,
    ...ways,
    '} };',
  );
  const programFile = path.join(path.dirname(ledger), `orders-${seed}.cjs`);
  fs.writeFileSync(programFile, lines.join('\n'));
  for (const each of Object.values(told)) each.file = programFile;
  return { told, ...require(programFile) };
}

function startSdk() {
  process.env.OTEL_LOGS_EXPORTER = 'none';
  process.env.OTEL_METRICS_EXPORTER = 'none';
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const eventLoop = require('opentelemetry-instrumentation-event-loop');
  const millisOf = ([seconds, nanos]) => seconds * 1e3 + nanos / 1e6;
  const listener = {
    onStart() {},
    onEnd(span) {
      if (span.name !== 'event-loop-blocked') return;
      const { attributes } = span;
      write({
        type: 'reported',
        start: millisOf(span.startTime),
        millis: millisOf(span.duration),
        kind: attributes['event_loop.block.kind'],
        // Before Node.js 22.19: NaN, which is null in the ledger.
        cpuMillis: attributes['event_loop.block.cpu_time'] * 1e3,
        name: attributes['code.function.name'],
        file: attributes['code.file.path'],
        line: attributes['code.line.number'],
        traceId: span.parentSpanContext && span.spanContext().traceId,
        links: span.links.map((link) => link.context.traceId),
      });
    },
    async forceFlush() {},
    async shutdown() {},
  };
  new NodeSDK({
    autoDetectResources: false,
    spanProcessors: [...(happens(0.5) ? [new eventLoop.EventLoopSpanProcessor()] : []), listener],
    instrumentations: [
      new HttpInstrumentation(),
      new eventLoop.EventLoopInstrumentation({
        thresholdMillis: 50,
        maxSpansPerMinute: 60_000,
        asyncHooks: happens(0.15) ? 'always' : 'auto',
      }),
    ],
  }).start();
}

/** A timer that writes down what held the loop. */
function startWitnesses() {
  let due = monotonic() + 5;
  setInterval(() => {
    const now = monotonic();
    if (now - due >= 15) write({ type: 'delay', start: due - 5, millis: now - due + 5 });
    due = now + 5;
  }, 5);
}
