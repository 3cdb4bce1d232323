import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Baseline } from '../../src/testing/baseline.ts';
import { appendToJobSummary } from '../../src/testing/job-summary.ts';
import { judgeByBaseline, type RecordedBlock, seenIn } from '../../src/testing/known-blocks.ts';
import type { BlockCause } from '../../src/types.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-loop-summary-'));
  file = join(folder, 'summary.md');
  process.env['GITHUB_STEP_SUMMARY'] = file;
});
afterEach(() => {
  delete process.env['GITHUB_STEP_SUMMARY'];
  rmSync(folder, { recursive: true, force: true });
});

const recorded = (
  functionName: string,
  durationMillis: number,
  cause: BlockCause = 'javascript',
): RecordedBlock => ({
  block: {
    startTimeMillis: 0,
    durationMillis,
    callbacks: 1,
    samples: 1,
    cause,
    code: { functionName, file: join(process.cwd(), 'src/report.js'), line: 7, stackTrace: '' },
  },
  functions: [],
  atLeastMillis: durationMillis,
  atMostMillis: durationMillis,
});
const written = () => readFileSync(file, 'utf8');

const HEADER = `| change | longest | known | blocks | cause | function | place |
| ------ | ------: | ----: | -----: | ----- | -------- | ----- |
`;

test('without a baseline: a row for each place, the longest first, after what is there', () => {
  writeFileSync(file, 'before\n');
  const blocks = [recorded('zip', 60, 'native'), recorded('hash', 100), recorded('hash', 200)];
  appendToJobSummary('a | test', blocks);
  expect(written()).toBe(`before
### Event loop blocked in \`a \\| test\`

${HEADER}|  | 200 ms |  | 2 |  | \`hash\` | \`src/report.js:7\` |
|  | 60 ms |  | 1 | native | \`zip\` | \`src/report.js:7\` |

`);
});

test('with a baseline: what is new, longer, known and gone', () => {
  const baseline = new Baseline(join(folder, 'known.json'));
  const place = (name: string) => baseline.placeOf(recorded(name, 0).block.code);
  const known = { [place('hash')]: 90, [place('sort')]: 100, 'old (src/old.js)': 70 };
  writeFileSync(baseline.path, JSON.stringify({ version: 2, blocks: { 'a test': known } }));
  const blocks = [recorded('hash', 100), recorded('sort', 300), recorded('zip', 60)];
  const test = { name: 'a test', isOfOneCall: true };
  const verdict = judgeByBaseline(baseline, test, blocks, seenIn(baseline, test, blocks), 50);
  appendToJobSummary('a test', blocks, baseline, verdict);
  expect(written()).toBe(`### Event loop blocked in \`a test\`

${HEADER}| new | 60 ms |  | 1 |  | \`zip\` | \`src/report.js:7\` |
| longer | 300 ms | 100 ms | 1 |  | \`sort\` | \`src/report.js:7\` |
|  | 100 ms | 90 ms | 1 |  | \`hash\` | \`src/report.js:7\` |
| gone |  | 70 ms |  |  | \`old (src/old.js)\` |  |

`);
});

test('nothing is written if nothing blocked, if there is no file, or if it is long already', () => {
  appendToJobSummary('a test', []);
  expect(() => written()).toThrow(/ENOENT/);
  writeFileSync(file, 'x'.repeat(512 * 1024));
  appendToJobSummary('a test', [recorded('hash', 100)]);
  expect(written()).toHaveLength(512 * 1024);
  process.env['GITHUB_STEP_SUMMARY'] = folder;
  expect(() => appendToJobSummary('a test', [recorded('hash', 100)])).not.toThrow();
  delete process.env['GITHUB_STEP_SUMMARY'];
  expect(() => appendToJobSummary('a test', [recorded('hash', 100)])).not.toThrow();
});
