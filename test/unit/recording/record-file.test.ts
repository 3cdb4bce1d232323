/** The file of `recordFile`: bounded, for several writers, and never anything but a file. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { appendLine } from '../../../src/outputs/recording/record-file.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'record-file-'));
  file = path.join(folder, 'made', 'blocks.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a full file is kept as FILE.1, and only that', () => {
  for (let i = 0; i < 10; i++) appendLine(file, `line ${i}`, 22);
  expect(readFileSync(file, 'utf8')).toBe('line 9\n');
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('line 6\nline 7\nline 8\n');
});

test('lines of several processes do not mix', async () => {
  const entry = path.join(__dirname, '../../../src/outputs/recording/record-file.ts');
  const outfile = path.join(folder, 'record-file.cjs');
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', format: 'cjs', outfile });
  const code = `const { appendLine } = require(${JSON.stringify(outfile)});
    const [, file, letter] = process.argv;
    for (let i = 0; i < 50; i++) appendLine(file, letter.repeat(100_000));`;
  const letters = ['a', 'b', 'c'];
  const writers = letters.map((letter) => spawn(process.execPath, ['-e', code, file, letter]));
  await Promise.all(writers.map((writer) => once(writer, 'exit')));
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const whole = new Set(letters.map((letter) => letter.repeat(100_000)));
  expect(lines.filter((line) => whole.has(line))).toHaveLength(150);
  expect(lines).toHaveLength(150);
});

test('what is no ordinary file is left alone', () => {
  expect(() => appendLine(folder, 'line')).toThrow();
  expect(statSync(folder).isDirectory()).toBe(true);
  if (process.platform === 'win32') return;
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  expect(() => appendLine(pipe, 'line')).toThrow();
});
