const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { channel } = require('node:diagnostics_channel');
const mode = process.argv[2];
const rec = [];
const lags = [];
const meter = {
  createHistogram: (n) => ({
    record: (v, a) => {
      if (n.includes('suspension'))
        rec.push([a['event_loop.suspension.reason'], +(v * 1e3).toFixed(1)]);
      if (n === 'event_loop.lag' && v > 0.02) lags.push(+(v * 1e3).toFixed(0));
    },
  }),
  createCounter: () => ({ add() {} }),
};
const inst = new EventLoopInstrumentation({ thresholdMillis: +(process.env.T || 50) });
inst.setMeterProvider({
  getMeter: () => new Proxy(meter, { get: (t, k) => t[k] ?? (() => ({})) }),
});
channel('opentelemetry-instrumentation-event-loop:block').subscribe(({ block }) =>
  console.log('block', block.durationMillis.toFixed(1), 'cpu', block.cpuTimeMillis?.toFixed(1)),
);
const cpu = () => {
  const s = require('fs').readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
  return [s[0] / 1e6, s[1] / 1e6];
};
const burn = (ms) => {
  const [a, d] = cpu();
  const t = performance.now();
  let x = 0;
  for (;;) {
    for (let i = 0; i < 20000; i++) x = Math.imul(x ^ i, 7);
    const c = cpu();
    if (c[0] - a >= ms) {
      console.log(
        'burned',
        (c[0] - a).toFixed(1),
        'wall',
        (performance.now() - t).toFixed(1),
        'delay',
        (c[1] - d).toFixed(1),
      );
      return;
    }
  }
};
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
(async () => {
  await sleep(600);
  await inst.ready();
  if (mode === 'burn')
    for (let i = 0; i < 5; i++) {
      await sleep(100 + 37 * i);
      burn(+process.argv[3]);
    }
  if (mode === 'idle') {
    console.log('idle');
    await sleep(1500);
  }
  if (mode === 'code') {
    console.log('go');
    let l = performance.now();
    for (;;) {
      const n = performance.now();
      if (n - l > 300) {
        console.log('jump', n - l);
        break;
      }
      l = n;
    }
  }
  await sleep(120);
  console.log('susp', JSON.stringify(rec));
  console.log('lags', JSON.stringify(lags.slice(0, 40)), lags.length);
})();
