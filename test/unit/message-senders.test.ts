/** Which code a message is told to come from. */
import { Worker } from 'node:worker_threads';
import { messageSenders, senderOf } from '../../src/core/record/hooks/message-senders.ts';

const portOf = (worker: Worker): object => {
  const key = Object.getOwnPropertySymbols(worker).find((its) => its.description === 'kPublicPort');
  return (worker as unknown as Record<symbol, object>)[key as symbol] as object;
};
const names = (resource: object) => senderOf(resource)?.map(({ functionName }) => functionName);

const startResizer = () => new Worker('', { eval: true });

afterEach(() => messageSenders.stop());

test('a worker is of what has started it, other ports of what has started all workers', () => {
  const { port1, port2 } = new MessageChannel();
  const before = startResizer();
  messageSenders.start();
  expect(names(port1)).toBeUndefined();
  const worker = startResizer();
  expect(names(portOf(worker))?.[0]).toBe('startResizer');
  expect(names(port1)?.[0]).toBe('startResizer');
  expect(senderOf(portOf(worker))?.every(({ isAsync }) => isAsync)).toBe(true);
  expect(names({})).toBeUndefined();
  messageSenders.stop();
  expect(names(portOf(worker))).toBeUndefined();
  port2.close();
  for (const each of [before, worker]) void each.terminate();
});
