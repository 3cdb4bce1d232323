// Three requests await one promise, as of a cache that is filled again. When it resolves, each of
// them computes, one after the other, in one turn of the event loop.
const { block, inRequest, main, startInstrumented, wait } = require('./support/telemetry.cjs');

const MILLIS = 200;
const NAMES = ['first', 'second', 'third'];

const { sdk } = startInstrumented({}, { stalls: true });

main(sdk, async () => {
  const shared = wait(300);
  const answer = (name) => async () => {
    await shared;
    block(name, MILLIS);
    await wait(10);
  };
  await Promise.all(NAMES.map((name) => inRequest(name, answer(name))));
});
