import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const GB = 1024 ** 3;
const SRC = path.join(__dirname, '../../src');

let mockLimit = 'unlimited';
let mockSizeGb = 0;
let mockFails = false;
const mockStarted = jest.fn();

jest.mock('node:fs', () => {
  const fs = jest.requireActual('node:fs');
  const fake = (file: string, ...rest: unknown[]) => {
    if (!String(file).startsWith('/proc/self/')) return fs.readFileSync(file, ...rest);
    if (mockFails) throw new Error('EACCES');
    return file === '/proc/self/limits'
      ? `Max locked memory         8388608   8388608   bytes\nMax address space         ${mockLimit}   unlimited   bytes\n`
      : `VmPeak:\t 99999999 kB\nVmSize:\t ${mockSizeGb * 1024 ** 2} kB\n`;
  };
  return { __esModule: true, ...fs, default: { ...fs, readFileSync: fake } };
});
jest.mock('node:worker_threads', () => ({
  ...jest.requireActual('node:worker_threads'),
  Worker: class {
    constructor(...args: unknown[]) {
      mockStarted(...args);
    }
  },
}));

const { startThread } = require('../../src/support/own-threads.ts') as {
  startThread: typeof import('../../src/support/own-threads.ts')['startThread'];
};
const start = () => startThread('code', { name: 'one', env: {} });

beforeEach(() => {
  mockStarted.mockClear();
  mockFails = false;
});

test.each([
  ['it has no limit', 'unlimited', 1.3],
  ['2 GB are left', String(3 * GB), 1],
])('a thread is started if %s', (_what, limit, size) => {
  [mockLimit, mockSizeGb] = [limit, size];
  start();
  expect(mockStarted).toHaveBeenCalledWith(
    'code',
    expect.objectContaining({ name: 'one', eval: true, execArgv: [] }),
  );
});

test('a thread is started if nothing is known', () => {
  mockFails = true;
  start();
  expect(mockStarted).toHaveBeenCalledTimes(1);
});

test('none is started if less than 2 GB of address space are left', () => {
  [mockLimit, mockSizeGb] = [String(3 * GB), 1.25];
  expect(start).toThrow('a thread needs more address space than `ulimit -v` leaves');
  expect(mockStarted).not.toHaveBeenCalled();
});

test('no thread is started elsewhere', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'),
  );
  const starting = files.filter((file) =>
    /new Worker\(/.test(readFileSync(path.join(SRC, file), 'utf8')),
  );
  expect(starting).toEqual([path.join('support', 'own-threads.ts')]);
});
