/** The report page as a file: when it is written, what it embeds, and that it is all text. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { BACKGROUND } from './support/background.ts';
import { appFile } from './support/run-app.ts';

const ROOT = path.join(__dirname, '../..');
const NAME = 'opentelemetry-instrumentation-event-loop';
const CONSOLE = ['--import', `${NAME}/console`];
const HOSTILE = [
  '</script><script>window.hacked = 1</script>',
  '<!--<script>',
  '<img src=x onerror="window.hacked = 1">',
  'line\u2028paragraph\u2029',
];

/** As much of `report` of console.schema.json as is asserted. */
interface Report {
  process: { pid: number; threadId: number };
  workers?: number[];
  codes: { functionName: string }[];
  blocks: { startTimeMillis: number; code?: number; stacks: number[] }[];
  requests?: { route: string; stalledMillis: number; waits: number[] }[];
  stacks: { files: string[] };
  sources?: Record<string, Record<string, string>>;
  summary: { places: object[]; routes?: { route: string }[] };
}

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'event-loop-report-'));
  file = path.join(folder, 'made', 'report.html');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(nodeArguments: string[], mode: string, reportFile = file, env = {}) {
  return promisify(execFile)(
    process.execPath,
    [...BACKGROUND, ...nodeArguments, appFile('report-page.cjs'), mode, file],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        OTEL_INSTRUMENTATION_EVENT_LOOP_REPORT_FILE: reportFile,
        OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '80',
        ...env,
      },
    },
  );
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const isValid = ajv.compile(
  JSON.parse(readFileSync(path.join(ROOT, 'console.schema.json'), 'utf8')),
);

/** What a page embeds, as another program reads it. */
function read(page = file): { html: string; report: Report } {
  const html = readFileSync(page, 'utf8');
  const [, json = ''] = /id="event-loop-report">(.*)<\/script>/.exec(html) ?? [];
  const report = JSON.parse(json);
  isValid(report);
  expect(isValid.errors).toBeNull();
  return { html, report };
}

const namesOf = ({ codes, blocks }: Report) =>
  blocks.map(({ code }) => (code === undefined ? undefined : codes[code]?.functionName));

test('/console without an SDK: blocks and stacks, whatever functions and files are called', async () => {
  await run(CONSOLE, 'blocks');

  const { html, report } = read();
  expect(namesOf(report)).toEqual(['renderReport', ...HOSTILE]);
  expect(report.requests).toEqual([]);
  expect(report.blocks.every(({ stacks }) => stacks.length >= 2)).toBe(true);
  expect(report.stacks.files).toContain('/app/<b onclick=x>&amp;"\'/0.js');
  // The functions of the others are in no file.
  expect(Object.keys(report.sources ?? {})).toEqual([appFile('report-page.cjs')]);
  expect(Object.values(report.sources?.[appFile('report-page.cjs')] ?? {}).join('')).toContain(
    'for (const goesOn = running(millis)',
  );
  // Nothing of it has become markup.
  expect(html.split('</script>')).toHaveLength(3);
  for (const text of ['<!--', '<img', '<b onclick', '\u2028', '\u2029']) {
    expect(html).not.toContain(text);
  }
});

test('with a span processor: who waited for which block, exactly', async () => {
  const { stdout } = await run([], 'spans');

  // What `writeReport()` says of a path that can be written, and of one that cannot.
  expect(stdout).toBe('true\nfalse\n');
  const { report } = read();
  const { blocks, summary } = report;
  const requests = report.requests?.filter(({ stalledMillis }) => stalledMillis > 0) ?? [];
  expect(namesOf(report)).toEqual(['renderReport', ...HOSTILE]);
  expect(requests.map(({ route }) => route)).toEqual(Array(5).fill('GET /health'));
  requests.forEach(({ waits, stalledMillis }, i) => {
    expect(waits.slice(-2)).toEqual([blocks[i]?.startTimeMillis, stalledMillis]);
  });
  const place = { functionName: 'renderReport', stalledRequests: 1 };
  expect(summary.places).toContainEqual(expect.objectContaining(place));
  expect(summary.routes?.map(({ route }) => route)).toContain(`GET /${HOSTILE[0]}`);
  const { report: early } = read(file.replace('.html', '-now.html'));
  expect(early.blocks).toHaveLength(5);
});

test('a policy allows its own script and style, by their hashes, and nothing else; no source without reportSource', async () => {
  await run(CONSOLE, 'nothing', file, {
    OTEL_INSTRUMENTATION_EVENT_LOOP_REPORT_SOURCE: 'false',
  });

  const { html, report } = read();
  expect(report.blocks).toEqual([]);
  expect(report.sources).toBeUndefined();
  const hash = (text = '') => createHash('sha256').update(text).digest('base64');
  const [, style] = /<style>(.*)<\/style>/s.exec(html) ?? [];
  const [, script] = /<script>(.*)<\/script>/s.exec(html) ?? [];
  expect(html).toContain(
    `content="default-src 'none'; script-src 'sha256-${hash(script)}'; ` +
      `style-src 'sha256-${hash(style)}'; base-uri 'none'; form-action 'none'"`,
  );
});

test('the page of the main thread names those of worker threads of this run', async () => {
  const old = file.replace('.html', '-worker-99.html');
  mkdirSync(path.dirname(old));
  writeFileSync(old, 'of a run before');
  utimesSync(old, 1, 1);
  const options = JSON.stringify({ reportFile: file });
  const thread = `new (require('${NAME}').EventLoopInstrumentation)(${options});`;
  const main = `${thread} new (require('worker_threads').Worker)(process.argv[1], { eval: true })`;
  await promisify(execFile)(process.execPath, ['--eval', main, thread], { cwd: ROOT });

  const { workers = [] } = read().report;
  expect(workers).toHaveLength(1);
  const { report } = read(file.replace('.html', `-worker-${workers[0]}.html`));
  expect(report.process.threadId).toBe(workers[0]);
  expect(report.workers).toBeUndefined();
});

test('SIGURG writes it while the process goes on; SIGTERM under /console, too', async () => {
  // Its own listener is called after the package's. Until stack samples can be taken, SIGTERM ends
  // the process at once.
  const app =
    'setInterval(() => {}, 1000); console.log("on");' +
    'process.on("SIGURG", () => setTimeout(() => console.log("written"), 600))';
  const child = spawn(process.execPath, [...BACKGROUND, ...CONSOLE, '--eval', app], {
    cwd: ROOT,
    env: { ...process.env, OTEL_INSTRUMENTATION_EVENT_LOOP_REPORT_FILE: file },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGURG');
  await once(child.stdout, 'data');
  expect(child.exitCode).toBeNull();
  rmSync(file);
  child.kill('SIGTERM');
  await once(child, 'exit');
  read();
});

test('{pid} is the process id', async () => {
  await run(CONSOLE, 'nothing', path.join(folder, 'report-{pid}.html'));

  const [name = ''] = readdirSync(folder);
  expect(name).toBe(`report-${read(path.join(folder, name)).report.process.pid}.html`);
});

test.each(['/dev/null', '/proc/nothing/report.html'])(
  '%s is not written to, and the process ends as without',
  async (target) => {
    const { stderr } = await run(CONSOLE, 'nothing', target);

    expect(stderr.match(/cannot write the report page/g)).toHaveLength(1);
  },
);
