/**
 * Preloaded: V8's CPU profile of this process, as `--cpu-prof` makes it, written to the folder in
 * REAL_APPS_PROFILES on SIGIO. `--cpu-prof` writes it only when the process ends by itself.
 */
const { renameSync, writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { join } = require('node:path');

const session = new Session();
const file = join(process.env.REAL_APPS_PROFILES, String(process.pid));
session.connect();
session.post('Profiler.enable');
session.post('Profiler.setSamplingInterval', { interval: 1000 });
session.post('Profiler.start');
process.once('SIGIO', () => {
  session.post('Profiler.stop', (error, result) => {
    if (error) throw error;
    writeFileSync(`${file}.part`, JSON.stringify(result.profile));
    renameSync(`${file}.part`, `${file}.cpuprofile`);
  });
});
writeFileSync(`${file}.started`, '');
