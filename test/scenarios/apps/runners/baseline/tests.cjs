// The tests of each file beside this one: with a baseline, in as many workers as there are files.
const { expectNoBlocks } = require('opentelemetry-instrumentation-event-loop/testing');
const { running } = require('../../../../support/thread-times.cjs');

const { RUNNER_BASELINE: baseline } = process.env;

function hashRow(millis) {
  let hash = 0;
  for (const goesOn = running(millis); goesOn(); )
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}

for (const name of ['first', 'second', 'third']) {
  test(name, async () => {
    const render = () => {
      hashRow(200);
      return 'report';
    };
    expect(await expectNoBlocks(render, { baseline })).toBe('report');
  });
}

test('changes', () => expectNoBlocks(() => hashRow(200), { baseline }));
