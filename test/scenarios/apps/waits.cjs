// Blocks that use no CPU, each alone in a span of its name: the main thread waits.
const { execFileSync, execSync, spawn } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { alone, inSpan, main, startInstrumented, truthOf } = require('./support/telemetry.cjs');

const THRESHOLD_MILLIS = 60;
const WAIT_SECONDS = 0.2;
/** Missed if the first milliseconds of it are taken for a wait of the loop. */
const BRIEF_MILLIS = THRESHOLD_MILLIS + 5;
const folder = mkdtempSync(path.join(tmpdir(), 'waits-'));
const fifo = path.join(folder, 'fifo');
execFileSync('mkfifo', [fifo]);

const word = new Int32Array(new SharedArrayBuffer(4));

const waits = {
  waitForWord: () => Atomics.wait(word, 0, 0, WAIT_SECONDS * 1e3),
  waitBriefly: () => Atomics.wait(word, 0, 0, BRIEF_MILLIS),
  waitBrieflyAgain: () => Atomics.wait(word, 0, 0, BRIEF_MILLIS),
  /** Nobody writes to it for that long. */
  readFifo() {
    spawn('sh', ['-c', `exec 3>${fifo}; sleep ${WAIT_SECONDS}`], { stdio: 'ignore' }).unref();
    readFileSync(fifo);
  },
  sleepInShell: () => execSync(`sleep ${WAIT_SECONDS}`),
};

const { sdk } = startInstrumented({ thresholdMillis: THRESHOLD_MILLIS });

main(sdk, async () => {
  for (const [name, wait] of Object.entries(waits)) {
    await alone(() =>
      inSpan(name, () => {
        truthOf(name, wait, { waits: true });
      }),
    );
    // Without a span, and so without a scope.
    await alone(() => truthOf(`${name} alone`, wait, { waits: true }));
  }
  rmSync(folder, { recursive: true });
});
