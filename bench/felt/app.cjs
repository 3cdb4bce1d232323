// One process of `felt`: something blocks, and what is felt of it afterwards is measured.
// Arguments: the case, and the number of blocks. Prints JSON.
const { context, trace } = require('@opentelemetry/api');

const [name, count] = [process.argv[2], Number(process.argv[3])];
const START_MILLIS = 1500;
const AFTER_MILLIS = 1000;
/** A turn of an idle loop is shorter; what is longer was interrupted, by us or by the machine. */
const work = (millis) => {
  for (const until = performance.now() + millis; performance.now() < until; );
};
const deep = (depth, run) => (depth === 0 ? run() : deep(depth - 1, run));
const cpuMillis = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** The longest turn of the loop in the time after each block, which itself does not count. */
async function longestTurns(block) {
  const longest = [];
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(() => resolve(block()), 10));
    let [last, most] = [performance.now(), 0];
    for (const end = last + AFTER_MILLIS; last < end; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = performance.now();
      most = Math.max(most, now - last);
      last = now;
    }
    longest.push(most);
  }
  return longest;
}

/** CPU of the process, without the work of the blocks. */
async function cpuOf(block, pauseMillis) {
  const before = cpuMillis();
  let worked = 0;
  for (let i = 0; i < count; i++) {
    await sleep(pauseMillis);
    const start = cpuMillis();
    block();
    worked += cpuMillis() - start;
  }
  await sleep(AFTER_MILLIS);
  return { cpuMillis: cpuMillis() - before - worked };
}

function bundled() {
  const { run } = require(process.env.FELT_BUNDLE);
  return () => run(() => work(400));
}

function beside(openSpans) {
  const tracer = trace.getTracer('felt');
  const open = Array.from({ length: openSpans }, () => tracer.startSpan('open'));
  return () =>
    context.with(trace.setSpan(context.active(), open[0]), () => deep(40, () => work(150)));
}

const CASES = {
  async bundle() {
    return { turns: await longestTurns(bundled()) };
  },
  'bundle, cpu': () => cpuOf(bundled(), AFTER_MILLIS),
  async many() {
    const block = () => deep(40, () => work(52));
    return cpuOf(block, 8);
  },
  async open() {
    return { turns: await longestTurns(beside(1000)) };
  },
  /** So much work, in callbacks of some 10 ms of CPU: how much CPU does the process take for it? */
  async work() {
    const before = cpuMillis();
    const loop = () => {
      let x = 0;
      for (let i = 0; i < 4e6; i++) x = (x * 31 + i) | 0;
      return x;
    };
    for (let i = 0; i < count; i++)
      await new Promise((resolve) => setImmediate(() => resolve(deep(60, loop))));
    return { cpuMillis: cpuMillis() - before };
  },
};

setTimeout(async () => {
  const found = await CASES[name]();
  process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit());
}, START_MILLIS);
