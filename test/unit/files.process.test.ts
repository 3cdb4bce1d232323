/** Folders that could hang the thread: in a process of its own, which is given up after a while. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'event-loop-files-')));
afterAll(() => rmSync(folder, { recursive: true }));

buildSync({
  entryPoints: [path.join(__dirname, '../../src/support/files.ts')],
  bundle: true,
  platform: 'node',
  outfile: path.join(folder, 'files.cjs'),
});

/** Long enough on any machine. */
const HANGS_AFTER_MILLIS = 15_000;

/** What comes of it: `made`, or the code of what it throws. */
function make(wanted: string) {
  const script = `
    const { makeFolder } = require('./files.cjs');
    try {
      makeFolder(${JSON.stringify(wanted)});
      console.log('made');
    } catch (error) {
      console.log(error.code);
    }`;
  const options = { cwd: folder, encoding: 'utf8', timeout: HANGS_AFTER_MILLIS } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], options);
  return { status, said: stdout.trim(), stderr };
}

test('one below /proc is refused by the file system, and hangs nothing', () => {
  expect(existsSync('/proc/self')).toBe(true);
  expect(make('/proc/self/profiles/of/today')).toEqual({ status: 0, said: 'ENOENT', stderr: '' });
});

test('one below a file, and one that is a pipe, are refused', () => {
  writeFileSync(path.join(folder, 'file'), '');
  // Node.js 26 says of the folder that it is not there, and then of the file that it is.
  const { said } = make(path.join(folder, 'file', 'profiles'));
  expect(said).toMatch(/^(?:ENOTDIR|EEXIST)$/);
  execFileSync('mkfifo', [path.join(folder, 'pipe')]);
  expect(make(path.join(folder, 'pipe', 'profiles'))).toMatchObject({ said: 'ENOTDIR' });
});

test('what is missing is made, also relative to the working directory, and may be there', () => {
  for (const wanted of [path.join(folder, 'a', 'b'), 'c/d', 'c/d']) {
    expect(make(wanted)).toEqual({ status: 0, said: 'made', stderr: '' });
  }
  expect(['a/b', 'c/d'].every((each) => existsSync(path.join(folder, each)))).toBe(true);
});
