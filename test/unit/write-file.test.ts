/** A file that is written as a whole, as someone meets it who reads it meanwhile. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { writeFile } from '../../src/support/files.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'write-file-'));
  file = path.join(folder, 'made', 'page.html');
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const modeOf = (each: string) => fs.statSync(each).mode & 0o777;
const read = (each = file) => fs.readFileSync(each, 'utf8');

test('whoever reads it while it is written anew finds the whole of it', async () => {
  const outfile = path.join(folder, 'files.cjs');
  const entry = path.join(__dirname, '../../src/support/files.ts');
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', outfile });
  const code = `const { writeFile } = require(${JSON.stringify(outfile)});
    for (let i = 0; i < 100; i++) writeFile(process.argv[1], 'x'.repeat(3_000_000) + 'end');`;
  const writer = spawn(process.execPath, ['-e', code, file]);
  let isWriting = true;
  const exit = once(writer, 'exit').finally(() => {
    isWriting = false;
  });
  const lengths = new Set<number>();
  while (isWriting) {
    await new Promise((resolve) => setImmediate(resolve));
    if (fs.existsSync(file)) lengths.add(read().length);
  }
  expect(await exit).toEqual([0, null]);
  expect([...lengths]).toEqual([3_000_003]);
  expect(fs.readdirSync(path.dirname(file))).toEqual(['page.html']);
});

test('nobody else may read it, unless who may was set', () => {
  writeFile(file, 'one');
  expect(modeOf(file)).toBe(0o600);
  fs.chmodSync(file, 0o644);
  writeFile(file, 'two');
  expect([read(), modeOf(file)]).toEqual(['two', 0o644]);
});

test('a link stays one, and what an earlier process has left is in nobody’s way', () => {
  const target = path.join(folder, 'target.html');
  fs.writeFileSync(target, 'old and longer');
  const link = path.join(folder, 'link.html');
  fs.symlinkSync(target, link);
  const stolen = path.join(folder, 'stolen');
  fs.symlinkSync(stolen, `${target}.${process.pid}-0.part`);
  writeFile(link, 'new');
  expect([fs.lstatSync(link).isSymbolicLink(), read(target)]).toEqual([true, 'new']);
  expect(fs.existsSync(stolen)).toBe(false);
});

test('what is no ordinary file is left alone', () => {
  expect(() => writeFile(folder, 'text')).toThrow('not an ordinary file');
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  expect(() => writeFile(pipe, 'text')).toThrow('not an ordinary file');
});

test('a file that cannot be replaced, but written, is written', () => {
  writeFile(file, 'old and longer');
  const rename = jest.spyOn(fs, 'renameSync').mockImplementation(() => {
    throw Object.assign(new Error('a mount'), { code: 'EBUSY' });
  });
  jest.isolateModules(() => {
    const files = require('../../src/support/files.ts') as { writeFile: typeof writeFile };
    files.writeFile(file, 'new');
  });
  rename.mockRestore();
  expect(read()).toBe('new');
  expect(fs.readdirSync(path.dirname(file))).toEqual(['page.html']);
});
