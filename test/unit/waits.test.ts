import { builtIns } from '../../src/core/record/native/built-ins.ts';
import { mayWait, onlyWaits } from '../../src/core/record/native/waits.ts';

test('of the wrapped built-ins, these wait', () => {
  const waiting = builtIns().flatMap(({ name }) => (mayWait(name) ? [name.split('.')[0]] : []));
  expect([...new Set(waiting)].sort()).toEqual(['Atomics', 'child_process', 'fs']);
});

test('so may the calls of databases and of add-ons that are not known', () => {
  const calls = ['node:sqlite.Database.exec', 'better-sqlite3.Statement.run', 'sleeper.sleepSync'];
  expect(calls.filter(mayWait)).toEqual(calls);
  expect(mayWait('bcrypt.hashSync')).toBe(false);
});

test('a file may be read at once, a child process is waited for', () => {
  const waiting = builtIns().flatMap(({ name }) => (onlyWaits(name) ? [name] : []));
  expect(waiting).toEqual([
    'Atomics.wait',
    'child_process.execFileSync',
    'child_process.execSync',
    'child_process.spawnSync',
  ]);
});
