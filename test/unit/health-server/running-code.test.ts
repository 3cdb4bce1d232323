import { RunningCodeReader } from '../../../src/health-server/running-code.ts';
import { createOriginOf } from '../../../src/name/in-app.ts';
import type { UnnamedFacts } from '../../../src/report/ongoing-facts.ts';
import { Request, SharedMemory, wordOf } from '../../../src/sample/shared-memory.ts';
import { SharedText } from '../../../src/sample/shared-records.ts';

const BUSY_SINCE = 1000;
const PARENT = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };

const factsOf = (functionName: string, time: number, more: Partial<UnnamedFacts> = {}) => ({
  epochMillis: 0,
  startTimeMillis: 0,
  callbacks: 1,
  spanUnwanted: false,
  eventUnwanted: false,
  isExpected: false,
  debuggerPause: false,
  parent: PARENT,
  sample: {
    requestedAt: time,
    time,
    frames: [{ functionName, file: '/app/report.js', line: 12, column: 3, text: functionName }],
  },
  ...more,
});

function setUp() {
  const memory = new SharedMemory();
  const sample = new SharedText(new SharedArrayBuffer(SharedText.BYTES));
  memory.openBusyPeriod(BUSY_SINCE);
  const originOf = createOriginOf({ cwd: '/app', mainFile: '/app/main.js' });
  const reader = new RunningCodeReader(sample, memory, originOf, false);
  return {
    memory,
    reader,
    call: (facts: object) => memory.longCall.write(JSON.stringify(facts)),
    publish: (facts: object, start = BUSY_SINCE, busyPeriod = BUSY_SINCE) =>
      sample.write(JSON.stringify({ busyPeriod: wordOf(busyPeriod), start, facts })),
  };
}

const nameIn = (reader: RunningCodeReader) => reader.read(2000)?.code?.functionName;

test('a native call that began after the sample is what runs', () => {
  const { reader, publish, call } = setUp();
  const nativeCall = { name: 'child_process.execSync', size: undefined };
  publish(factsOf('render', 1100));
  call(factsOf('wait', 1150, { nativeCall }));
  expect(reader.read(2000)).toMatchObject({ code: { functionName: 'wait' }, cause: 'native' });
  // V8 may end code inside a native call: its entry stays.
  publish(factsOf('sort', 1200));
  expect(nameIn(reader)).toBe('sort');
});

test('without an answer to the latest request, the cause is not known', () => {
  const { reader, publish, memory } = setUp();
  publish(factsOf('render', 1100));
  memory.answeredAt.set(0, 1101);
  memory.request.set(Request.requestedAt, 1990); // under way
  expect(reader.read(2000)?.cause).toBe('javascript');
  expect(reader.read(2050)?.cause).toBeUndefined();
});
