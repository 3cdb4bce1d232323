/** The folders of `src/` depend on each other in one direction; `src/README.md` lists them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const SRC = join(__dirname, '../../src');

/** From the lowest to the highest: each may import those above it in this list, and itself. */
const ORDER = [
  ['version', 'semconv', 'types', 'block', 'worker-code.generated'],
  ['support'],
  ['channels'],
  ['core/emit/block-attributes'],
  ['otel'],
  ['core/explain/name'],
  ['core/explain/source-maps'],
  ['core/explain'],
  ['core/sample'],
  ['core/record/native'],
  ['core/record'],
  ['core/emit'],
  ['config', 'active-instance'],
  ['core/stalls', 'threads/ongoing', 'threads/workers'],
  ['outputs/summary'],
  ['outputs/output'],
  ['outputs/console', 'outputs/html-report', 'outputs/recording', 'threads/health-server'],
  ['outputs/outputs'],
  ['watchdog.worker', 'core/session'],
  ['instrumentation', 'console-report'],
  ['core'],
  ['index', 'console'],
  ['main-entry'],
  ['entries/register', 'entries/testing'],
  ['register', 'testing', 'cli'],
];
/** Folders that can be deleted, and who imports them. */
const OUTPUTS = ['outputs/console', 'outputs/html-report', 'outputs/recording'];
OUTPUTS.push('threads/health-server', 'entries/testing');
const REGISTRATION = ['outputs/outputs.ts', 'core.ts', 'console-report.ts', 'testing.ts'];
/** What outputs are told by, and what knows no block but by the public types. */
const OPEN_TO_OUTPUTS = ['channels', 'types', 'outputs/output', 'version', 'support', 'otel'];
OPEN_TO_OUTPUTS.push('outputs/summary', 'worker-code.generated');
/** Functions of public types or of files, which the core needs as well. */
const SHARED_FUNCTIONS = [
  'core/explain/name/cpu-profile.ts',
  'core/explain/name/key.ts',
  'core/explain/name/stack-path.ts',
  'core/emit/block-line.ts',
  'core/emit/requests-text.ts',
  'core/emit/unknown-code.ts',
  'core/sample/stack.ts',
  'core/explain/source-maps/map-of.ts',
  'core/explain/source-maps/resolve-source.ts',
];
/** The thread of the health server reads the memory of `LoopProbe`; the guard is an entry. */
const OF_ONE_OUTPUT: Record<string, RegExp> = {
  'threads/health-server':
    /^core\/(?:sample\/(?:shared-|clock-origin|inspector|suspensions)|record\/lag\/health)/,
  'entries/testing': /^(?:core|active-instance)\.ts$/,
};

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

const UNITS = ORDER.flat().sort((a, b) => b.length - a.length);

/** `core/record/ledger.ts` is in `core/record`, `block.ts` is `block`. */
function unitOf(file: string): string {
  const name = file.replaceAll(sep, '/').replace(/\.ts$/, '');
  return UNITS.find((unit) => name === unit || name.startsWith(`${unit}/`)) ?? name;
}

const levelOf = (file: string) => ORDER.findIndex((units) => units.includes(unitOf(file)));

const IMPORT = /^(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/gm;

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, specifier]) =>
    relative(SRC, join(SRC, dirname(file), specifier as string)),
  );
}

const edges = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));

test('every file of src has a place in the order', () => {
  expect(files.filter((file) => levelOf(file) === -1)).toEqual([]);
});

test('no folder imports a higher one', () => {
  const upwards = edges.filter(({ from, to }) => levelOf(from) < levelOf(to));
  expect(upwards).toEqual([]);
});

test('no two folders import each other', () => {
  const pairs = new Set(edges.map(({ from, to }) => `${unitOf(from)} ${unitOf(to)}`));
  const mutual = [...pairs].filter((pair) => {
    const [a, b] = pair.split(' ') as [string, string];
    return a < b && pairs.has(`${b} ${a}`);
  });
  expect(mutual).toEqual([]);
});

test('no code but the registration imports an output', () => {
  const foreign = edges.filter(
    ({ from, to }) =>
      OUTPUTS.includes(unitOf(to)) && unitOf(from) !== unitOf(to) && !REGISTRATION.includes(from),
  );
  expect(foreign).toEqual([]);
});

test('outputs, and what they share, import the public channels and types, and not the core', () => {
  const core = edges.filter(({ from, to }) => {
    const unit = unitOf(from);
    if (![...OUTPUTS, 'summary'].includes(unit) || unitOf(to) === unit) return false;
    const isOpen = OPEN_TO_OUTPUTS.includes(unitOf(to)) || SHARED_FUNCTIONS.includes(to);
    return !isOpen && OF_ONE_OUTPUT[unit]?.test(to) !== true;
  });
  expect(core).toEqual([]);
});

/** A timer or a clock: as a global, of a module of Node.js, or of `process`. */
const GLOBALS = '(?:set|clear)(?:Timeout|Interval|Immediate)|queueMicrotask|performance';
const MEMBERS = 'Date\\.now|process\\.(?:nextTick|hrtime|uptime)';
const TIME = new RegExp(
  `(?<![\\w.#'/])(?:${GLOBALS})\\b(?!:)|\\b(?:${MEMBERS})\\b|\\bDate\\(\\)|'node:timers`,
  'g',
);
const COMMENTS_AND_TIME_IMPORT =
  /\/\*[\s\S]*?\*\/|\/\/.*|import \{([^}]*)\} from '[^']*\/time\.ts'/g;

function timeIn(code: string): string[] {
  const imported: string[] = [];
  const rest = code.replace(COMMENTS_AND_TIME_IMPORT, (_, names = '') => {
    imported.push(...names.split(',').map((name: string) => name.trim()));
    return '';
  });
  return [...rest.matchAll(TIME)].map(String).filter((name) => !imported.includes(name));
}

test('timers and clocks come from support/time.ts, which fake ones cannot reach', () => {
  const own = [join('support', 'time.ts'), 'worker-code.generated.ts'];
  const inProcess = files.filter((file) => !own.includes(file) && !/browser|\.d\.ts$/.test(file));
  const found = inProcess.flatMap((file) =>
    timeIn(readFileSync(join(SRC, file), 'utf8')).map((name) => `${file}: ${name}`),
  );
  expect(found).toEqual([]);
});

test('no line of src is longer than 100 columns', () => {
  const long = files
    .filter((file) => !file.endsWith('.generated.ts'))
    .flatMap((file) =>
      readFileSync(join(SRC, file), 'utf8')
        .split('\n')
        .flatMap((line, i) => (line.length > 100 ? [`${file}:${i + 1}`] : [])),
    );
  expect(long).toEqual([]);
});
