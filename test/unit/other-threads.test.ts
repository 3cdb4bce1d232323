import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { noteOthers } from '../../src/core/sample/other-threads.ts';
import { SharedMemory, Sleeping } from '../../src/core/sample/shared-memory.ts';
import { attempt } from '../../src/support/guard.ts';
import { threadFolder } from '../../src/support/schedstat.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;
const FILES = '/proc/self/fd';
const openFiles = () =>
  readdirSync(FILES).filter((id) =>
    attempt(() => readlinkSync(`${FILES}/${id}`))?.endsWith('/schedstat'),
  ).length;
const threads = () => readdirSync('/proc/self/task').length;

onLinux('files of threads stay open while they run, and no longer', async () => {
  const memory = new SharedMemory();
  const folder = threadFolder();
  const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
  await once(worker, 'online');
  noteOthers(memory, folder);
  expect(memory.sleep.get(Sleeping.othersDelay)).toBeGreaterThan(0);
  const [filesBefore, threadsBefore] = [openFiles(), threads()];
  noteOthers(memory, folder);
  expect(openFiles()).toBe(filesBefore);
  await worker.terminate();
  const ended = threadsBefore - threads();
  expect(ended).toBeGreaterThan(0);
  noteOthers(memory, folder);
  expect(openFiles()).toBe(filesBefore - ended);
});
