// Little work on a heap that is nearly full, so that most of the block is garbage collection.
const { PerformanceObserver } = require('node:perf_hooks');
const { setFlagsFromString } = require('node:v8');
const telemetry = require('./support/telemetry.cjs');
const { alone, inSpan, main, note, startInstrumented, startTruth } = telemetry;

setFlagsFromString('--expose-gc');
const collect = require('node:vm').runInNewContext('gc');

const collections = [];
const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
observer.observe({ entryTypes: ['gc'] });

const { sdk } = startInstrumented();

const live = Array.from({ length: 500_000 }, (_, i) => ({ i, text: `row ${i}` }));

let within = { start: 0, end: 0 };

main(sdk, async () => {
  await alone(() => {
    inSpan('pressure', () => {
      const end = startTruth('pressure');
      const start = performance.now();
      // what V8 does by itself when the heap is at its limit, without the risk of running out of it
      while (performance.now() - start < 300) {
        live[0] = live.slice(0, 1000);
        collect();
      }
      within = { start, end: performance.now() };
      end();
    });
  });
  const inBlock = collections.filter(
    (entry) => entry.startTime >= within.start && entry.startTime <= within.end,
  );
  note(
    'gc millis',
    inBlock.reduce((sum, entry) => sum + entry.duration, 0),
  );
  observer.disconnect();
});
