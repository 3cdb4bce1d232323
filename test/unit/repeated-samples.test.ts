/** A stack sample that shows no code is repeated: V8 interrupts between promise reactions. */
import { CaptureClient, TO_MAIN_THREAD } from '../../src/core/sample/capture-session.ts';
import { BARE, TAKEN } from '../../src/core/sample/protocol.ts';
import { Request, SharedMemory, wordOf } from '../../src/core/sample/shared-memory.ts';

const MAX_REPEATS = 128;

let mockAnswers: string[] = [];
/** Whether only a sample with code was wanted, of each request. */
let mockWanted: boolean[] = [];
let mockMemory: SharedMemory;
let mockSessions = 0;

jest.mock('node:inspector', () => ({
  Session: class {
    connectToMainThread() {
      mockSessions++;
    }
    removeAllListeners() {}
    disconnect() {}
    post(_method: string, _params: object, answer: (error: null, response: object) => void) {
      mockWanted.push(mockMemory.request.get(Request.isRepeat) === 1);
      const value = mockAnswers.length > 1 ? mockAnswers.shift() : mockAnswers[0];
      answer(null, { result: { value } });
    }
  },
}));

let client: CaptureClient;
beforeEach(() => {
  mockMemory = new SharedMemory();
  mockWanted = [];
  mockSessions = 0;
  client = new CaptureClient(
    'expression',
    mockMemory,
    TO_MAIN_THREAD,
    () => 0,
    { sleepInLoop: async () => {} },
    () => {},
  );
});

const capture = (busyPeriod: number, isReportNear = false) => {
  mockMemory.openBusyPeriod(busyPeriod);
  return client.capture(wordOf(busyPeriod), isReportNear, () => {});
};
const reply = (isCodeKnown: boolean) => ({ start: 0, isCodeKnown, facts: {} });

test('until one shows code, in one session', async () => {
  mockAnswers = [BARE, BARE, BARE, TAKEN];
  expect(await capture(1)).toEqual({ reply: TAKEN, isOver: false });
  expect(mockWanted).toEqual([false, true, true, true]);
  expect(mockSessions).toBe(1);
});

test('the report of an ongoing block has the code that was found', async () => {
  mockAnswers = [JSON.stringify(reply(false)), BARE, JSON.stringify(reply(true))];
  expect(await capture(1, true)).toEqual({ reply: reply(true), isOver: false });
  expect(mockWanted).toEqual([false, true, true]);
});

test('so many times, and if it was in vain twice, not again in the same busy period', async () => {
  mockAnswers = [JSON.stringify(reply(false)), BARE];
  expect(await capture(1, true)).toEqual({ reply: reply(false), isOver: false });
  expect(mockWanted).toHaveLength(1 + MAX_REPEATS);
  mockWanted = [];
  expect(await capture(1)).toEqual({ reply: TAKEN, isOver: false });
  expect(mockWanted).toHaveLength(1 + MAX_REPEATS);
  mockWanted = [];
  await capture(1);
  expect(mockWanted).toEqual([false]);
  mockWanted = [];
  mockAnswers = [BARE, TAKEN];
  await capture(2);
  expect(mockWanted).toEqual([false, true]);
});

test('until the busy period is over', async () => {
  mockAnswers = [BARE];
  const asked = capture(1);
  mockMemory.openBusyPeriod(2);
  expect(await asked).toEqual({ reply: TAKEN, isOver: false });
  expect(mockWanted).toEqual([false]);
});

test('one that shows code is taken once', async () => {
  mockAnswers = [TAKEN];
  await capture(1);
  expect(mockWanted).toEqual([false]);
});
