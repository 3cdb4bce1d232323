/** Explanations at the end of a process, and under the flags of one: in processes of their own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from '../source-maps/support.ts';

afterAll(removeFolders);

const folder = makeFolder();
const file = buildApp(folder);
const original = placeOf(SOURCES['src/report.ts'], 'MARK-report');
const source = `report.ts:${original.line}:${original.column - 1}`;
const { line, column } = placeOf(readFileSync(file, 'utf8'), 'MARK-report');

buildSync({
  entryPoints: [path.join(__dirname, '../../../src/core/explain/explainer.ts')],
  bundle: true,
  platform: 'node',
  outfile: path.join(folder, 'explainer.cjs'),
});

/** Long enough on any machine; a process that does not wait ends much earlier. */
const LONG_MILLIS = 15_000;

/** Prints each answer, and what else the script does. */
function run(script: string, flags: readonly string[] = []) {
  const scriptFile = path.join(folder, 'script.cjs');
  writeFileSync(
    scriptFile,
    `const { Explainer } = require('./explainer.cjs');
    const path = require('node:path');
    const print = (text) => require('node:fs').writeSync(1, text + '\\n');
    const log = { log: (level, message, detail) => print(level + ': ' + message) };
    const position = ${JSON.stringify({ file, line, column })};
    const make = (times) => new Explainer({
      originOf: () => 'app', origin: {}, asksOrigins: false, cwd: __dirname, hasMaps: true, isRecorded: false, mayName: () => true, asNaming: (work) => work(),
      collections() {}, schedule: setImmediate, asOwnWork: (work) => work(),
    }, log, times);
    const blockOf = (place) => {
      const text = 'f (' + place.file + ':' + place.line + ':' + place.column + ')';
      const frame = { functionName: 'f', isAsync: false, isOwn: false, text, ...place };
      return { start: 0, end: 100, samples: [{ requestedAt: 50, time: 50, frames: [frame] }] };
    };
    const printPlace = ({ code }) =>
      print(code.file === position.file ? 'unmapped' : path.basename(code.file) + ':' + code.line + ':' + code.column);
    ${script}`,
  );
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, scriptFile], {
    encoding: 'utf8',
    timeout: 2 * LONG_MILLIS,
  });
  return { status, lines: stdout.trim().split('\n'), stderr, millis: performance.now() - started };
}

/** Each block is explained when the process ends, as a session does it. */
const EXPLAIN = `const explainer = make({ maxWaitMillis: ${LONG_MILLIS} });
  process.on('exit', () => explainer.settle(${LONG_MILLIS}));
  const explain = (its) => explainer.explain(blockOf(its), printPlace);`;

test.each([
  ['ends by itself', '', 0],
  ['calls process.exit', 'process.exit(3);', 3],
])('a process that %s is answered, and not kept alive', (_how, exit, expected) => {
  const { status, lines, stderr, millis } = run(`${EXPLAIN} explain(position); ${exit}`);
  expect({ status, lines, stderr }).toEqual({ status: expected, lines: [source], stderr: '' });
  expect(millis).toBeLessThan(LONG_MILLIS);
});

test('a process with an idle thread ends', () => {
  const { status, lines, stderr, millis } = run(`
    const explainer = make({ maxWaitMillis: ${LONG_MILLIS}, idleMillis: ${LONG_MILLIS} });
    const alive = setInterval(() => {}, 1000);
    explainer.explain(blockOf(position), (code) => {
      printPlace(code);
      clearInterval(alive);
    });`);
  expect({ status, lines, stderr }).toEqual({ status: 0, lines: [source], stderr: '' });
  expect(millis).toBeLessThan(LONG_MILLIS);
});

test('a preload of the host does not run in the thread', () => {
  writeFileSync(path.join(folder, 'preload.cjs'), `require('node:fs').writeSync(1, 'preload\\n');`);
  const { lines } = run(`${EXPLAIN} explain(position);`, [
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
    ${EXPLAIN} explain(inPipe);`);
  expect({ status, lines, stderr }).toEqual({ status: 0, lines: ['pipe.js:1:1'], stderr: '' });
});

test('with --enable-source-maps, Node.js has the maps of code that is not in a file', () => {
  const { lines, stderr } = run(
    `
    const map = { version: 3, sources: ['webpack://app/./made.ts'], names: [], mappings: 'AAEI' };
    const comment = '//# source' + 'MappingURL=data:application/json;base64,';
    const made = new module.constructor(__dirname + '/made.js');
    made._compile('let a;\\n' + comment + Buffer.from(JSON.stringify(map)).toString('base64'), __dirname + '/made.js');
    ${EXPLAIN}
    explain({ file: __dirname + '/made.js', line: 1, column: 3, offset: 2 });
    explain(position);`,
    ['--enable-source-maps'],
  );
  expect({ lines, stderr }).toEqual({ lines: ['made.ts:3:5', source], stderr: '' });
});

test('with --enable-source-maps, Node.js is not asked for the map of a file: it would decode it here', () => {
  const { lines, stderr } = run(
    `
    module.constructor.findSourceMap = () => print('Node.js is asked');
    ${EXPLAIN}
    explain({ ...position, offset: position.column - 1 });`,
    ['--enable-source-maps'],
  );
  expect({ lines, stderr }).toEqual({ lines: [source], stderr: '' });
});

describe('the permission model', () => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const twice = `
    ${EXPLAIN}
    explain(position);
    explain(position);`;

  test('no threads', () => {
    const { status, lines } = run(twice, [flag, '--allow-fs-read=*']);
    expect(status).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(/^info: blocks are named without their files: Access to this API/),
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
