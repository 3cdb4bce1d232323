// `npm run check -- explain FILE...`: for each block in a file of the option `recordFile` (or that
// file as .gz), what today's rules say of it, beside what was reported. `--changed` prints only
// those that differ.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const EXPLAIN = path.join(ROOT, 'test', 'unit', 'recording', 'explain.ts');

async function loadExplain() {
  const folder = mkdtempSync(path.join(tmpdir(), 'explain-'));
  try {
    const outfile = path.join(folder, 'explain.mjs');
    await build({ entryPoints: [EXPLAIN], bundle: true, platform: 'node', format: 'esm', outfile });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const files = process.argv.slice(2).filter((argument) => argument !== '--changed');
const { explain, outcomeOf } = await loadExplain();
let changed = 0;
let all = 0;
for (const file of files) {
  const bytes = readFileSync(file);
  const text = String(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  for (const line of text.trim().split('\n')) {
    const recording = JSON.parse(line);
    const before = outcomeOf(recording.said, recording);
    const now = outcomeOf(explain(recording), recording);
    all++;
    if (before !== now) changed++;
    else if (process.argv.includes('--changed')) continue;
    const time = new Date(recording.startTimeMillis).toISOString();
    const length = `${recording.durationMillis.toFixed(0).padStart(6)} ms`;
    const wasOther = before === now ? '' : `\n  reported: ${before}`;
    console.log(`${time} ${length} ${recording.kind ?? ''}: ${now}${wasOther}`);
  }
}
console.log(`${all} blocks, of which ${changed} are told differently from what was reported`);
