/** Lookups at the end of a process, and under the flags of one: in processes of their own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from './support.ts';

afterAll(removeFolders);

const folder = makeFolder();
const file = buildApp(folder);
const original = placeOf(SOURCES['src/report.ts'], 'MARK-report');
const source = `report.ts:${original.line}:${original.column - 1}`;
const { line, column } = placeOf(readFileSync(file, 'utf8'), 'MARK-report');

buildSync({
  entryPoints: [path.join(__dirname, '../../../src/source-maps/source-positions.ts')],
  bundle: true,
  platform: 'node',
  outfile: path.join(folder, 'source-positions.cjs'),
});

/** Long enough on any machine; a process that does not wait ends much earlier. */
const LONG_MILLIS = 15_000;

/** Prints each answer, and what else the script does. */
function run(script: string, flags: readonly string[] = []) {
  const scriptFile = path.join(folder, 'script.cjs');
  writeFileSync(
    scriptFile,
    `const { SourcePositions } = require('./source-positions.cjs');
    const print = (text) => require('node:fs').writeSync(1, text + '\\n');
    const log = { log: (level, message, detail) => print(level + ': ' + message) };
    const position = ${JSON.stringify({ file, line, column })};
    const printFound = ([found]) =>
      print(found ? require('node:path').basename(found.file) + ':' + found.line + ':' + found.column : 'unmapped');
    ${script}`,
  );
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, scriptFile], {
    encoding: 'utf8',
    timeout: 2 * LONG_MILLIS,
  });
  return { status, lines: stdout.trim().split('\n'), stderr, millis: performance.now() - started };
}

/** The lookup of each position is answered when the process ends, as a session does it. */
const LOOK_UP = `const positions = new SourcePositions(log, { maxWaitMillis: ${LONG_MILLIS} });
  process.on('exit', () => positions.settle(${LONG_MILLIS}));
  const lookUp = (its) => positions.lookup([its], printFound);`;

test.each([
  ['ends by itself', '', 0],
  ['calls process.exit', 'process.exit(3);', 3],
])('a process that %s is answered, and not kept alive', (_how, exit, expected) => {
  const { status, lines, stderr, millis } = run(`${LOOK_UP} lookUp(position); ${exit}`);
  expect({ status, lines, stderr }).toEqual({ status: expected, lines: [source], stderr: '' });
  expect(millis).toBeLessThan(LONG_MILLIS);
});

test('a process with an idle thread ends', () => {
  const { status, lines, stderr, millis } = run(`
    const positions = new SourcePositions(log, { maxWaitMillis: ${LONG_MILLIS}, idleMillis: ${LONG_MILLIS} });
    const alive = setInterval(() => {}, 1000);
    positions.lookup([position], (found) => {
      printFound(found);
      clearInterval(alive);
    });`);
  expect({ status, lines, stderr }).toEqual({ status: 0, lines: [source], stderr: '' });
  expect(millis).toBeLessThan(LONG_MILLIS);
});

test('a preload of the host does not run in the thread', () => {
  writeFileSync(path.join(folder, 'preload.cjs'), `require('node:fs').writeSync(1, 'preload\\n');`);
  const { lines } = run(`${LOOK_UP} lookUp(position);`, [
    '--require',
    path.join(folder, 'preload.cjs'),
  ]);
  expect(lines).toEqual(['preload', source]);
});

test('code that says it comes from a pipe is not waited for', () => {
  const pipe = path.join(folder, 'pipe.js');
  execFileSync('mkfifo', [pipe]);
  const { status, lines, stderr } = run(`
    const inPipe = { file: ${JSON.stringify(pipe)}, line: 1, column: 1 };
    ${LOOK_UP} lookUp(inPipe);`);
  expect({ status, lines, stderr }).toEqual({ status: 0, lines: ['unmapped'], stderr: '' });
});

test('with --enable-source-maps, Node.js has the maps of code that is not in a file', () => {
  const { lines, stderr } = run(
    `
    const map = { version: 3, sources: ['webpack://app/./made.ts'], names: [], mappings: 'AAEI' };
    const comment = '//# source' + 'MappingURL=data:application/json;base64,';
    const made = new module.constructor(__dirname + '/made.js');
    made._compile('let a;\\n' + comment + Buffer.from(JSON.stringify(map)).toString('base64'), __dirname + '/made.js');
    ${LOOK_UP}
    lookUp({ file: __dirname + '/made.js', line: 1, column: 3, offset: 2 });
    lookUp(position);`,
    ['--enable-source-maps'],
  );
  expect({ lines, stderr }).toEqual({ lines: ['made.ts:3:5', source], stderr: '' });
});

test('with --enable-source-maps, Node.js is not asked for the map of a file: it would decode it here', () => {
  const { lines, stderr } = run(
    `
    module.constructor.findSourceMap = () => print('Node.js is asked');
    ${LOOK_UP}
    lookUp({ ...position, offset: position.column - 1 });`,
    ['--enable-source-maps'],
  );
  expect({ lines, stderr }).toEqual({ lines: [source], stderr: '' });
});

describe('the permission model', () => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const twice = `
    ${LOOK_UP}
    lookUp(position);
    lookUp(position);`;

  test('no threads', () => {
    const { status, lines } = run(twice, [flag, '--allow-fs-read=*']);
    expect(status).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(/^warn: sourceMaps is off: Access to this API has been restricted/),
      'unmapped',
      'unmapped',
    ]);
  });

  test('not all files may be read', () => {
    const { status, lines } = run(twice, [flag, '--allow-worker', `--allow-fs-read=${folder}/*`]);
    expect(status).toBe(0);
    expect(lines).toEqual([
      'warn: sourceMaps is off: the permission model does not allow to read all files',
      'unmapped',
      'unmapped',
    ]);
  });

  test('all files may be read', () => {
    const { status, lines } = run(twice, [flag, '--allow-worker', '--allow-fs-read=*']);
    expect(status).toBe(0);
    expect(lines).toEqual([source, source]);
  });
});
