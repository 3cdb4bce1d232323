// A service under the debugger: paused for a while inside a callback, and blocked for real.
const { execSync } = require('node:child_process');
const inspector = require('node:inspector');
const { alone, block, main, startInstrumented, startTruth } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented();

main(sdk, async () => {
  inspector.open(0, '127.0.0.1', false);
  process.stdout.write(`debugger ${inspector.url()}\n`);
  await new Promise((resolve) => process.stdin.once('data', resolve));
  await alone(() => {
    const end = startTruth('pause', { waits: true });
    // biome-ignore lint/suspicious/noDebugger: it is what the scenario is about
    debugger;
    end();
  });
  await alone(() => block('real', 200));
  await alone(() => {
    const end = startTruth('wait', { waits: true });
    execSync('sleep 0.3');
    end();
  });
  inspector.close();
});
