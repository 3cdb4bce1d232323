import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { TO_MAIN_THREAD } from '../../src/sample/capture-session.ts';
import { LOST } from '../../src/sample/protocol.ts';
import { Terminating, Word } from '../../src/sample/shared-memory.ts';
import { isOnStack } from '../../src/sample/stack.ts';
import { answerTermination, type Commands, Termination } from '../../src/sample/termination.ts';

const REFUSED = Symbol('refused');
const newFlags = () => new Int32Array(new SharedArrayBuffer(32));

/** What comes of these answers; the last one is given again and again. */
function outcomeOf(...answers: unknown[]) {
  const happened: string[] = [];
  let questions = 0;
  const termination = new Termination(
    newFlags(),
    {
      ask: (answered) => {
        const answer = answers[Math.min(questions++, answers.length - 1)];
        answered(answer === REFUSED, answer);
      },
      terminate: (queued) => {
        happened.push('terminate');
        queued();
      },
    },
    () => false,
    () => happened.push('done'),
  );
  termination.poll();
  return { happened, questions };
}

test.each([
  ['Node.js runs no code any more', ['ended'], ['terminate', 'done'], 1],
  ['it is over', ['over'], ['done'], 1],
  ['it is over, as is known after a while', [REFUSED, LOST, 'over'], ['done'], 3],
  ['terminated meanwhile', ['terminated'], ['done'], 1],
  ['V8 has ended the question as well', [REFUSED, 'ended'], ['terminate', 'done'], 2],
  ['the question fails otherwise', [undefined], ['done'], 1],
  ['a loop without calls', [REFUSED], ['terminate', 'done'], 10],
  ['no stack is left for the question', [LOST], ['done'], 10],
  ['no stack is left, and refused at last', [LOST, REFUSED], ['done'], 10],
])('a sample that V8 has ended: %s', (_, answers, happened, questions) => {
  expect(outcomeOf(...answers)).toEqual({ happened, questions });
});

test('a session that is closed is asked no more', () => {
  const ask = jest.fn((answered: (isRefused: boolean, answer: unknown) => void) =>
    answered(true, undefined),
  );
  const done = jest.fn();
  new Termination(newFlags(), { ask, terminate: done }, () => true, done);

  expect(ask).toHaveBeenCalledTimes(1);
  expect(done).not.toHaveBeenCalled();
});

test('code outside of `vm` is not terminated, nor does it wait', () => {
  const flags = newFlags();

  expect(answerTermination(flags, isOnStack)).toBe('over');
  expect(flags[Word.termination]).toBe(0);
});

test('code in `vm` waits until its termination is queued', async () => {
  const flags = newFlags();
  // Of the watchdog thread: see `Termination.poll`.
  const other = new Worker(
    `const { parentPort, workerData: flags } = require('node:worker_threads');
    parentPort.postMessage('runs');
    const at = ${Word.termination};
    while (Atomics.compareExchange(flags, at, ${Terminating.wanted}, ${Terminating.begun}) === 0);
    Atomics.store(flags, at, ${Terminating.queued});
    Atomics.notify(flags, at);`,
    { eval: true, workerData: flags },
  );
  await new Promise((resolve) => other.once('message', resolve));

  const answer = () => answerTermination(flags, isOnStack);

  expect(runInNewContext('answer()', { answer })).toBe('terminated');
  expect(flags[Word.termination]).toBe(0);
  await new Promise((resolve) => other.once('exit', resolve));
});

test('without a watchdog thread, code in `vm` goes on', () => {
  const flags = newFlags();
  const answer = () => answerTermination(flags, isOnStack);

  expect(runInNewContext('answer()', { answer })).toBe('over');
  expect(flags[Word.termination]).toBe(0);
});

test.each([
  ['V8 is to end what runs', 'Execution was terminated', true],
  ['the session is closed', 'Session was closed', false],
  ['the command is not known', "Inspector error -32601: 'Runtime.evaluate' wasn't found", false],
])('V8 refuses the question only if %s', (_, message, expected) => {
  const refusals: boolean[] = [];
  const errors = [new Error('Execution was terminated'), new Error(message)];
  const session = {
    post: (_method: string, _params: object, answered: (error: Error) => void) =>
      answered(errors.shift() as Error),
  };
  TO_MAIN_THREAD.request(
    session as never,
    {
      expression: '',
      question: '',
      asked() {},
      terminated: (commands: Commands) => commands.ask((isRefused) => refusals.push(isRefused)),
    } as never,
  );
  expect(refusals).toEqual([expected]);
});
