// Runs the demo and draws the telling part of its report. With `--stdin` it draws a saved report
// instead: `FORCE_COLOR=3 COLUMNS=96 node demo/run.mjs > report.txt`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { ansiToSvg } from './ansi-to-svg.mjs';

const COLUMNS = '96';
const SECTIONS = [
  '● /compute-sync ',
  '● /compute-async ',
  '● /compute-with-set-immediate ',
  '● /nested-loop ',
  'event_loop.lag ',
];
const DESCRIPTION =
  'npm run demo in a terminal: traces of requests as waterfalls, each with a red event-loop-blocked span where it blocked ' +
  'the event loop and the function, file and line that blocked it, the latency of health checks beside it, and the event loop lag as a histogram with p50, p90 and p99';
const picture = new URL('../../docs/pictures/demo.svg', import.meta.url);

async function runDemo() {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../../demo/run.mjs', import.meta.url))],
    {
      env: { ...process.env, FORCE_COLOR: '3', COLUMNS },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`the demo ended with ${code}`);
  return report;
}

/** The sections of the picture, as they are in the report. */
function crop(report) {
  const sections = report.split('\n\n').map((section) => section.replace(/^\n+|\n+$/g, ''));
  return SECTIONS.map((start) => {
    const found = sections.find((section) =>
      stripVTControlCharacters(section).trimStart().startsWith(start),
    );
    if (!found) throw new Error(`the report has no section that starts with "${start}"`);
    return found;
  }).join('\n\n');
}

/** docs/pictures/demo.svg */
export async function pictureOfDemo() {
  const report = process.argv.includes('--stdin') ? await text(process.stdin) : await runDemo();
  const svg = await ansiToSvg(crop(report), { title: 'npm run demo', description: DESCRIPTION });
  await mkdir(new URL('.', picture), { recursive: true });
  await writeFile(picture, svg);
  process.stderr.write('docs/pictures/demo.svg\n');
}
