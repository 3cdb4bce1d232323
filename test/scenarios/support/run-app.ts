/**
 * Runs one scenario app in a child process, with the Node.js that runs the tests, and reads what it
 * recorded.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unixTime } from '../../support/unix-time.cjs';
import { BACKGROUND } from './background.ts';
import { type Stall, type Stolen, startWitness, type WatchedDelay } from './witness.ts';

const MAX_RUN_MILLIS = 60_000;
/** So often it gets as long again, if it has had no CPU for most of the time. */
const MAX_EXTENSIONS = 3;
/**
 * How long a process may take from its last line of code to its end: the teardown of Node.js
 * itself, on a busy machine.
 */
export const EXIT_TOLERANCE_MILLIS = 500;

export type AsyncHooksMode = 'auto' | 'always';

/** Those of these modes that are wanted: all, unless `SCENARIO_MODES` lists some. */
export function wantedModes<Mode extends AsyncHooksMode>(...modes: Mode[]): Mode[] {
  const listed = process.env['SCENARIO_MODES']?.split(',');
  return listed === undefined ? modes : modes.filter((mode) => listed.includes(mode));
}

interface Line {
  pid: number;
  thread: number;
}

export interface SpanLine extends Line {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startMillis: number;
  endMillis: number;
  durationMillis: number;
  attributes: Record<string, string | number | boolean>;
  links: { traceId: string; spanId: string; attributes: Record<string, string> }[];
  status: { code: number };
  scope: string;
}

/** A log record with an event name. */
export interface EventLine extends Line {
  eventName: string;
  body: string;
  severityText: string;
  startMillis: number;
  traceId?: string;
  spanId?: string;
  attributes: Record<string, string | number | boolean>;
  scope: string;
}

/** What an app measured itself, and the span that was active then. */
export interface Truth extends Line {
  label: string;
  startMillis: number;
  endMillis: number;
  durationMillis: number;
  traceId?: string;
  spanId?: string;
  /** How long the thread had been kept waiting for a CPU by then, since it began. */
  delayAtStartMillis?: number;
  delayAtEndMillis?: number;
  /** How long the thread had run by then, as of a tick of the scheduler. */
  cpuAtStartMillis?: number;
  cpuAtEndMillis?: number;
  /** It is not work all the time. */
  waits?: boolean;
}

/**
 * A moment at which an app read how long its thread had been kept waiting for a CPU, and had run.
 */
export interface Reading extends Line {
  atMillis: number;
  delayMillis?: number;
  cpuMillis?: number;
  /** The same for each thread that Node.js did not start with, by its id in the system. */
  threads?: Record<string, number>;
}

export interface HistogramValue {
  count: number;
  sum: number;
  min: number;
  max: number;
  buckets: { boundaries: number[]; counts: number[] };
}

export interface MetricLine extends Line {
  phase: string;
  scope: string;
  name: string;
  unit: string;
  attributes: Record<string, string>;
  value: HistogramValue | number;
}

export interface DiagLine extends Line {
  level: 'error' | 'warn';
  message: string;
}

/** Everything one run left behind. */
export interface Run {
  asyncHooks: AsyncHooksMode;
  spans: SpanLine[];
  /** The spans named `event-loop-blocked`. */
  blocks: SpanLine[];
  truths: Truth[];
  readings: Reading[];
  /** When the tests' own witness was late itself. */
  stalls: Stall[];
  /** How long its first thread was kept waiting for a CPU, as seen from outside. */
  delays: WatchedDelay[];
  /** When CPUs of a virtual machine were taken away from it. */
  stolen: Stolen[];
  metrics: MetricLine[];
  /** Of apps that record them. */
  events: EventLine[];
  diags: DiagLine[];
  notes: Record<string, unknown>;
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** From the app's note `finished` to the end of the process. */
  exitDelayMillis: number;
}

export interface AppOptions {
  /** The Node.js it runs on, if not the one that runs the tests. */
  node?: string;
  args?: string[];
  nodeArgs?: string[];
  env?: Record<string, string>;
  asyncHooks?: AsyncHooksMode;
  /** Where the app lies, if not in `apps/`. */
  file?: string;
  /** Where it runs: what it is preloaded with is found from there. */
  cwd?: string;
  /** Why it gets no background interval with `SCENARIO_BACKGROUND=1`. */
  withoutBackground?: string;
}

export interface App {
  child: ChildProcess;
  /** What it has printed so far. */
  output: { stdout: string; stderr: string };
  /** Waits for a line on standard output, and gives what follows `prefix` in it. */
  printed(prefix: string): Promise<string>;
}

/** Requests to an app, over the connections of an agent, or each over a new one. */
export const sender = (port: number, agent: Agent | false) => (route: string) =>
  new Promise<void>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent, path: route }, (response) =>
      response.resume().on('end', resolve),
    ).on('error', reject);
  });

/**
 * Gets routes of a service, whose watchdog thread starts during the first requests: they wait for
 * 40 ms each.
 */
export async function warmClientOf(app: App, slowRoute: string, requests = 10) {
  const url = `http://127.0.0.1:${await app.printed('listening')}`;
  const get = async (route: string) => (await fetch(url + route)).text();
  for (let i = 0; i < requests; i++) await get(slowRoute);
  return get;
}

export const appFile = (name: string) => path.join(__dirname, '..', 'apps', name);

/**
 * In memory where there is such a place: apps write their record in the middle of what is timed,
 * and disks stall for milliseconds.
 */
const TEMPORARY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export function makeFolder(): string {
  // Links resolved, as in the stack of what runs: macOS has one.
  return realpathSync.native(mkdtempSync(path.join(TEMPORARY, 'event-loop-scenario-')));
}

/**
 * Runs an app to its end. `drive` is what happens to it meanwhile; an app that serves goes on until
 * its standard input is closed, which happens when `drive` returns.
 */
export async function runApp(
  name: string,
  options: AppOptions = {},
  drive?: (app: App) => Promise<void>,
): Promise<Run> {
  const { asyncHooks = 'auto' } = options;
  const folder = makeFolder();
  const record = path.join(folder, 'record.jsonl');
  writeFileSync(record, '');
  const witness = await startWitness();
  const child = spawn(
    options.node ?? process.execPath,
    [
      ...(options.nodeArgs ?? []),
      ...(options.withoutBackground === undefined ? BACKGROUND : []),
      options.file ?? appFile(name),
      ...(options.args ?? []),
    ],
    {
      env: appEnvironment(record, asyncHooks, options.env),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: what it has started ends with it.
      detached: true,
    },
  );
  if (child.pid !== undefined) witness.watch(child.pid);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  child.stdin.on('error', () => {}); // the app may be gone before its input is closed
  let endedAt = 0;
  const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('exit', () => {
      endedAt = unixTime();
    });
    child.once('close', (code, signal) => resolve([code, signal]));
    child.once('error', reject);
  });

  const story = (what: string) =>
    new Error(
      `${name} ${what}\n--- standard output\n${output.stdout}\n--- standard error\n${output.stderr}\n--- record\n${readFileSync(record, 'utf8').slice(-4000)}`,
    );
  const app: App = {
    child,
    output,
    async printed(prefix) {
      for (;;) {
        const line = output.stdout.split('\n').find((candidate) => candidate.startsWith(prefix));
        if (line !== undefined) return line.slice(prefix.length).trim();
        if (endedAt > 0) throw story(`ended and never printed ${prefix}`);
        await Promise.race([once(child.stdout, 'data'), closed]);
      }
    },
  };

  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const wait = (extensions: number) => {
      timer = setTimeout(() => {
        const millis = (extensions + 1) * MAX_RUN_MILLIS;
        const isStarved = witness.delayMillis() > millis / 2;
        if (isStarved && extensions < MAX_EXTENSIONS) wait(extensions + 1);
        else reject(story(`has not ended after ${millis} ms`));
      }, MAX_RUN_MILLIS);
    };
    wait(0);
  });
  const goneEarly = closed.then(([code, signal]) => {
    throw story(`ended (code ${code}, signal ${signal}) while it was still being driven`);
  });
  goneEarly.catch(() => {});
  try {
    if (drive) await Promise.race([drive(app), goneEarly, tooLong]);
    child.stdin.end();
    const [code, signal] = await Promise.race([closed, tooLong]);
    const run = readRecord(record, asyncHooks, code, signal, output);
    const { endedAt: seenAt = endedAt, ...seen } = await witness.stop();
    // Jest may have kept this thread from hearing of it.
    const end = Math.min(endedAt, seenAt);
    const exitDelayMillis = end - Number(run.notes['finished'] ?? Number.NaN);
    return { ...run, ...seen, exitDelayMillis };
  } finally {
    clearTimeout(timer);
    killGroup(child.pid);
    await witness.stop();
    await closed.catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Some of it may have been left behind, with the output that it inherited. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {} // all have ended
}

/**
 * Nothing of jest's own environment, nor of the OpenTelemetry settings of the shell, reaches the
 * app.
 */
function appEnvironment(
  record: string,
  asyncHooks: AsyncHooksMode,
  env: Record<string, string> = {},
): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([key]) => !/^(OTEL_|NODE_|JEST_|SCENARIO_)/.test(key),
  );
  return {
    ...Object.fromEntries(own),
    OTEL_LOGS_EXPORTER: 'none',
    SCENARIO_RECORD: record,
    SCENARIO_ASYNC_HOOKS: asyncHooks,
    ...env,
  };
}

function readRecord(
  record: string,
  asyncHooks: AsyncHooksMode,
  code: number | null,
  signal: NodeJS.Signals | null,
  output: { stdout: string; stderr: string },
): Run {
  const run: Run = {
    asyncHooks,
    spans: [],
    blocks: [],
    truths: [],
    readings: [],
    stalls: [],
    stolen: [],
    delays: [],
    metrics: [],
    events: [],
    diags: [],
    notes: {},
    code,
    signal,
    ...output,
    exitDelayMillis: Number.NaN,
  };
  const lines = readFileSync(record, 'utf8').split('\n');
  lines.pop(); // after the last line break: nothing, or a line that is being written right now
  for (const text of lines) {
    const line = JSON.parse(text);
    if (line.type === 'span') run.spans.push(line);
    else if (line.type === 'reading') run.readings.push(line);
    else if (line.type === 'truth') {
      run.truths.push(line);
      const { pid, thread } = line;
      run.readings.push({
        pid,
        thread,
        atMillis: line.startMillis,
        delayMillis: line.delayAtStartMillis,
        cpuMillis: line.cpuAtStartMillis,
      });
      run.readings.push({
        pid,
        thread,
        atMillis: line.endMillis,
        delayMillis: line.delayAtEndMillis,
        cpuMillis: line.cpuAtEndMillis,
      });
    } else if (line.type === 'metric') run.metrics.push(line);
    else if (line.type === 'event') run.events.push(line);
    else if (line.type === 'diag') run.diags.push(line);
    else run.notes[line.name] = line.value;
  }
  run.blocks = run.spans.filter((span) => span.name === 'event-loop-blocked');
  run.blocks.sort((a, b) => a.startMillis - b.startMillis);
  run.readings.sort((a, b) => a.atMillis - b.atMillis);
  return run;
}
