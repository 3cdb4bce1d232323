// Guarantees: what a service under load costs and how fast it answers, for a while.
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../../tools/statistics.cjs';

/**
 * @typedef {{ cpu: number, p50: number, p99: number, perSecond: number }} Slice microseconds of CPU
 *   per request, milliseconds, requests
 */

/**
 * @param {Awaited<ReturnType<import('./service-client.mjs').startService>>} service
 * @param {ReturnType<import('./load.mjs').startLoad>} load
 * @param {number} millis
 * @returns {Promise<Slice>}
 */
export async function slice(service, load, millis) {
  const before = await service.ask('read');
  load.take();
  await sleep(millis);
  const after = await service.ask('read');
  const latencies = load.take();
  const requests = after.requests - before.requests;
  return {
    cpu: (after.cpu - before.cpu) / requests,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    perSecond: (requests / (after.at - before.at)) * 1000,
  };
}
