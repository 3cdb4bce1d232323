/** The waits of pools of worker threads, and no other call of `Atomics.wait`. */
import { PoolWaits } from '../../src/threads/workers/pool-waits.ts';

const original = Object.getOwnPropertyDescriptor(Atomics, 'wait') as PropertyDescriptor;
const PISCINA = '/srv/app/node_modules/piscina/dist/worker.js';

let told: string[];
let file: string | undefined;
let filesAsked: number;
let errors: unknown[];

function create(begins = () => void told.push('begins')) {
  const listener = { begins, ended: () => void told.push('ended') };
  const callingFile = () => {
    filesAsked++;
    return file;
  };
  return new PoolWaits(listener, callingFile, (error) => errors.push(error));
}

const newArray = () => new Int32Array(new SharedArrayBuffer(4));

beforeEach(() => {
  told = [];
  errors = [];
  filesAsked = 0;
  file = PISCINA;
});

afterEach(() => Object.defineProperty(Atomics, 'wait', original));

test('the caller is asked for once for each array', () => {
  const waits = create();
  waits.start();
  const array = newArray();
  for (let i = 0; i < 3; i++) Atomics.wait(array, 0, 1);
  expect(filesAsked).toBe(1);
  expect(told.length).toBe(6);
});

test('a listener that throws: logged, and the wait goes on', () => {
  const fault = new Error('ours');
  const waits = create(() => {
    throw fault;
  });
  waits.start();
  expect(Atomics.wait(newArray(), 0, 1)).toBe('not-equal');
  expect(errors).toEqual([fault]);
  waits.stop();
});
