// Builds one of the applications: `runBuild('astro', 'astro/bin/astro.mjs')`.
import { execFileSync } from 'node:child_process';

/**
 * @param {string} app folder
 * @param {string} tool in `node_modules`
 */
export function runBuild(app, tool) {
  execFileSync(process.execPath, [`${import.meta.dirname}/../node_modules/${tool}`, 'build'], {
    cwd: `${import.meta.dirname}/${app}`,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
  });
}
