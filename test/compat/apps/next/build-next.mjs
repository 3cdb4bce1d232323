import { execFileSync } from 'node:child_process';

const next = `${import.meta.dirname}/../node_modules/next/dist/bin/next`;
execFileSync(process.execPath, [next, 'build'], {
  cwd: import.meta.dirname,
  stdio: ['ignore', 'ignore', 'inherit'],
  // the build loads the routes, and with them what writes the record
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', SCENARIO_RECORD: '/dev/null' },
});
