import { once } from 'node:events';
import { runInContext, runInNewContext, Script } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { TO_MAIN_THREAD } from '../../src/sample/capture-session.ts';
import { LimitedRuns } from '../../src/sample/limited-runs.ts';
import { LOST } from '../../src/sample/protocol.ts';
import { Cancelling, SharedMemory, Word } from '../../src/sample/shared-memory.ts';
import { answerTermination, type Commands, Termination } from '../../src/sample/termination.ts';

const REFUSED = Symbol('refused');

/** A sample that was ended at 100, and what the watchdog thread does about it until `done`. */
class Scene {
  time = 100;
  readonly memory = new SharedMemory();
  readonly happened: string[] = [];
  readonly #termination: Termination;

  constructor(canEnd: boolean, answers: unknown[] = []) {
    let questions = 0;
    const commands: Commands = {
      canEnd,
      ask: (answered) => {
        this.happened.push('ask');
        const answer = answers[Math.min(questions++, answers.length - 1)];
        answered(answer === REFUSED, answer);
      },
      terminate: () => void this.happened.push('terminate'),
      cancel: (queued) => {
        this.happened.push('cancel');
        queued();
      },
    };
    this.#termination = new Termination(
      this.memory,
      () => this.time,
      commands,
      () => this.happened.includes('done'),
      () => this.happened.push('done'),
    );
  }

  /** The run with this number runs, until a time. */
  run(run: number, until: number): this {
    Atomics.store(this.memory.words, Word.limitedRun, run);
    this.memory.limitedUntil.set(0, until);
    return this;
  }

  pollUntil(time: number): string[] {
    while (this.time < time && !this.happened.includes('done')) {
      this.#termination.poll();
      this.time += 2;
    }
    return this.happened;
  }

  get(word: number): number {
    return Atomics.load(this.memory.words, word);
  }
}

describe('a run with a limit', () => {
  test('whose time was over, and that goes on, is terminated', () => {
    const scene = new Scene(false).run(7, 90);
    expect(scene.pollUntil(110)).toEqual([]);
    expect(scene.pollUntil(140)).toEqual(['terminate']);
    expect(scene.get(Word.limitedRun)).toBe(-7);
  });

  test('that Node.js has ended a little too early, too', () => {
    expect(new Scene(false).run(7, 105).pollUntil(124)).toEqual([]);
    expect(new Scene(false).run(7, 105).pollUntil(128)).toEqual(['terminate']);
  });

  test('that ends by itself is not', () => {
    const scene = new Scene(false).run(7, 90);
    scene.pollUntil(106);
    expect(scene.run(0, Number.POSITIVE_INFINITY).pollUntil(140)).toEqual(['done']);
  });

  test('that has begun since, or may run for longer, is not', () => {
    expect(new Scene(false).run(7, 106).pollUntil(1000)).toEqual(['done']);
  });

  test('that ends before its termination comes has that cancelled', () => {
    const scene = new Scene(false).run(7, 90);
    scene.pollUntil(140);
    Atomics.store(scene.memory.words, Word.cancelling, Cancelling.wanted);
    expect(scene.pollUntil(142)).toEqual(['terminate', 'cancel']);
    expect(scene.get(Word.cancelling)).toBe(Cancelling.queued);
    expect(scene.run(0, Number.POSITIVE_INFINITY).pollUntil(150)).toEqual([
      'terminate',
      'cancel',
      'done',
    ]);
  });
});

test('without one, nothing is terminated on the main thread', () => {
  expect(new Scene(false).pollUntil(1000)).toEqual(['done']);
});

test.each([
  ['Node.js runs no code any more', ['ended'], ['terminate', 'done'], 1],
  ['it is over', ['over'], ['done'], 1],
  ['it is over, as is known after a while', [REFUSED, LOST, 'over'], ['done'], 3],
  ['V8 has ended the question as well', [REFUSED, 'ended'], ['terminate', 'done'], 2],
  ['the question fails otherwise', [undefined], ['done'], 1],
  ['a loop without calls', [REFUSED], ['terminate', 'done'], 10],
  ['no stack is left for the question', [LOST], ['done'], 10],
  ['no stack is left, and refused at last', [LOST, REFUSED], ['done'], 10],
])('a sample in a worker thread: %s', (_, answers, happened, questions) => {
  const scene = new Scene(true, answers);
  const asked = Array<string>(questions).fill('ask');
  expect(scene.pollUntil(1000)).toEqual([...asked, ...happened]);
});

test('a thread in which code runs says so', () => {
  expect(answerTermination()).toBe('over');
});

describe('runs', () => {
  const own = Object.getOwnPropertyDescriptor(
    Object.getPrototypeOf(Script.prototype),
    'runInContext',
  );
  let memory: SharedMemory;
  let runs: LimitedRuns;
  const running = () => [Atomics.load(memory.words, Word.limitedRun), memory.limitedUntil.get(0)];
  /** By V8's own clock: only the time of the loop without an end is to be over. */
  const vmRun = (timeout: number | undefined, code: () => unknown) =>
    runInNewContext('code()', { code }, { timeout });

  beforeEach(() => {
    memory = new SharedMemory();
    runs = new LimitedRuns(memory, () => 1000);
    runs.start();
  });
  afterEach(() => runs.stop());

  test('are known with a timeout, and only while they run', () => {
    expect(vmRun(undefined, running)).toEqual([0, 0]);
    expect(vmRun(50_000, running)).toEqual([1, 51_000]);
    expect(() =>
      vmRun(50_000, () => {
        throw new RangeError('of the application');
      }),
    ).toThrow('of the application');
    expect(running()[0]).toBe(0);
  });

  test('inside of each other: the one that ends first counts', () => {
    vmRun(50_000, () => {
      expect(vmRun(70_000, running)).toEqual([2, 51_000]);
      expect(running()).toEqual([1, 51_000]);
      expect(vmRun(20_000, running)).toEqual([3, 21_000]);
      expect(running()).toEqual([1, 51_000]);
    });
  });

  test('whose time is over: those around go on', () => {
    vmRun(50_000, () => {
      expect(() => vmRun(5, () => runInNewContext('for (;;);'))).toThrow(
        expect.objectContaining({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' }),
      );
      expect(running()).toEqual([1, 51_000]);
    });
    expect(running()[0]).toBe(0);
  });

  test('that were claimed wait until their termination is cancelled', async () => {
    const other = new Worker(
      `const { parentPort, workerData: words } = require('node:worker_threads');
      const at = ${Word.cancelling};
      parentPort.postMessage('runs');
      while (Atomics.compareExchange(words, at, ${Cancelling.wanted}, ${Cancelling.begun}) === 0);
      Atomics.store(words, at, ${Cancelling.queued});
      Atomics.notify(words, at);`,
      { eval: true, workerData: memory.words },
    );
    await once(other, 'message');
    vmRun(50_000, () => Atomics.store(memory.words, Word.limitedRun, -1));
    expect(running()[0]).toBe(0);
    expect(Atomics.load(memory.words, Word.cancelling)).toBe(0);
    await once(other, 'exit');
  });

  test('`vm` is as before afterwards', () => {
    runs.stop();
    const prototype = Object.getPrototypeOf(Script.prototype);
    expect(Object.getOwnPropertyDescriptor(prototype, 'runInContext')).toEqual(own);
    expect(runInContext.name).toBe('runInContext');
  });
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
