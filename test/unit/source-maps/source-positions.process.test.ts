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

const WAITS = `{ maxWaitMillis: ${LONG_MILLIS}, exitWaitMillis: ${LONG_MILLIS} }`;

test('a process that ends by itself is answered before its own listeners, and not kept alive', () => {
  const { status, lines, stderr, millis } = run(`
    process.on('beforeExit', () => print('beforeExit'));
    new SourcePositions(log, ${WAITS}).lookup([position], printFound);`);
  expect({ status, lines, stderr }).toEqual({
    status: 0,
    lines: [source, 'beforeExit'],
    stderr: '',
  });
  expect(millis).toBeLessThan(LONG_MILLIS);
});

test('a process that calls process.exit', () => {
  const { status, lines, stderr } = run(`
    new SourcePositions(log, ${WAITS}).lookup([position], printFound);
    process.exit(3);`);
  expect({ status, lines, stderr }).toEqual({ status: 3, lines: [source], stderr: '' });
});

test('a process that does not wait', () => {
  const { status, lines, stderr, millis } = run(`
    const positions = new SourcePositions(log, { maxWaitMillis: ${LONG_MILLIS}, exitWaitMillis: 0 });
    positions.lookup([position], printFound);`);
  expect({ status, lines, stderr }).toEqual({ status: 0, lines: ['unmapped'], stderr: '' });
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
  const { lines } = run(`new SourcePositions(log, ${WAITS}).lookup([position], printFound);`, [
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
    new SourcePositions(log, ${WAITS}).lookup([inPipe], printFound);`);
  expect({ status, lines, stderr }).toEqual({ status: 0, lines: ['unmapped'], stderr: '' });
});

test('with --enable-source-maps, Node.js has the maps of code that is not in a file', () => {
  const { lines, stderr } = run(
    `
    const map = { version: 3, sources: ['webpack://app/./made.ts'], names: [], mappings: 'AAEI' };
    const comment = '//# source' + 'MappingURL=data:application/json;base64,';
    const made = new module.constructor(__dirname + '/made.js');
    made._compile('let a;\\n' + comment + Buffer.from(JSON.stringify(map)).toString('base64'), __dirname + '/made.js');
    const positions = new SourcePositions(log, ${WAITS});
    positions.lookup([{ file: __dirname + '/made.js', line: 1, column: 3, offset: 2 }], printFound);
    print('at once');
    positions.lookup([position], printFound);`,
    ['--enable-source-maps'],
  );
  expect({ lines, stderr }).toEqual({ lines: ['made.ts:3:5', 'at once', source], stderr: '' });
});

test('with --enable-source-maps, Node.js is not asked for the map of a file: it would decode it here', () => {
  const { lines, stderr } = run(
    `
    module.constructor.findSourceMap = () => print('Node.js is asked');
    const positions = new SourcePositions(log, ${WAITS});
    positions.lookup([{ ...position, offset: position.column - 1 }], printFound);`,
    ['--enable-source-maps'],
  );
  expect({ lines, stderr }).toEqual({ lines: [source], stderr: '' });
});

// Node.js 26 reads a map when it is asked for it; earlier ones when the module is loaded.
test('with --enable-source-maps, Node.js is not asked for a map that is a device', () => {
  const device = path.join(folder, 'device.js');
  const code = 'exports.f = () => 1;\n//# source' + 'MappingURL=/dev/zero\n';
  writeFileSync(device, code);
  const { status, lines, stderr } = run(
    `
    const device = ${JSON.stringify(device)};
    if (parseInt(process.versions.node) >= 26) require(device);
    const { findSourceMap } = module.constructor;
    module.constructor.findSourceMap = (file) => {
      print('Node.js is asked');
      return findSourceMap(file);
    };
    const positions = new SourcePositions(log, ${WAITS});
    positions.lookup([{ file: device, line: 1, column: 11, offset: 10 }], printFound);
    // As if it was wrapped by a loader.
    positions.lookup([{ file: device, line: 1, column: 12, offset: 73 }], printFound);`,
    ['--enable-source-maps'],
  );
  expect({ status, lines, stderr }).toEqual({
    status: 0,
    lines: ['unmapped', 'unmapped'],
    stderr: '',
  });
});

describe('the permission model', () => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const twice = `
    const positions = new SourcePositions(log, ${WAITS});
    positions.lookup([position], printFound);
    positions.lookup([position], printFound);`;

  test('no threads', () => {
    const { status, lines } = run(twice, [flag, `--allow-fs-read=${folder}/*`]);
    expect(status).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(/^warn: sourceMaps is off: Access to this API has been restricted/),
      'unmapped',
      'unmapped',
    ]);
  });

  test('the files may be read', () => {
    const { status, lines } = run(twice, [flag, '--allow-worker', `--allow-fs-read=${folder}/*`]);
    expect(status).toBe(0);
    expect(lines).toEqual([source, source]);
  });

  test('the files may not be read', () => {
    const { status, lines } = run(twice, [
      flag,
      '--allow-worker',
      `--allow-fs-read=${folder}/script.cjs`,
      `--allow-fs-read=${folder}/source-positions.cjs`,
    ]);
    expect(status).toBe(0);
    expect(lines).toEqual([
      'info: the permission model forbids to read a source map',
      'unmapped',
      'unmapped',
    ]);
  });
});
