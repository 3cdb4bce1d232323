// The tests of each file beside this one: with a baseline, in as many workers as there are files.
const { expectNoBlocks } = require('opentelemetry-instrumentation-event-loop/testing');
const { runDelayMillis } = require('../../../../support/thread-times.cjs');

const { RUNNER_BASELINE: baseline } = process.env;

/** For so long, without the time in which the machine gave the thread no CPU. */
function hashRow(millis) {
  const delay = runDelayMillis() ?? 0;
  const start = performance.now();
  let until = start + millis;
  while (performance.now() < until) {
    const next = Math.min(until, performance.now() + 20);
    while (performance.now() < next);
    until = start + millis + (runDelayMillis() ?? 0) - delay;
  }
}

for (const name of ['first', 'second', 'third']) {
  test(name, async () => {
    const render = () => {
      hashRow(150);
      return 'report';
    };
    expect(await expectNoBlocks(render, { baseline })).toBe('report');
  });
}

test('changes', () => expectNoBlocks(() => hashRow(150), { baseline }));
