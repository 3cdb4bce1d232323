// Guarantees: one measurement of all workloads, in the process as it is right now.
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { median } from '../../tools/statistics.cjs';
import { WORKLOADS } from './workloads.mjs';

const WARM_UP_PERIODS = 10;
/** Slices per workload and period; their median is the period's value. */
const SLICES = 5;

/** @typedef {Record<string, number>} Period nanoseconds per operation, by workload */

/** Brings the process to where it can be measured: real context manager, everything compiled. */
export async function prepareProcess() {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // Before 24, AsyncLocalStorage brings a promise hook of its own with its first run: it belongs to
  // the baseline.
  context.with(ROOT_CONTEXT, () => {});
  for (let i = 0; i < WARM_UP_PERIODS; i++) await period(0);
}

/**
 * @param {number} settleMillis wait before it, until what was switched has started or ended (a
 *   worker, a timer)
 * @returns {Promise<Period>}
 */
export async function period(settleMillis) {
  await sleep(settleMillis);
  /** @type {Period} */
  const values = {};
  for (const { name, run, count } of WORKLOADS) {
    await run(count >> 2);
    const slices = [];
    for (let i = 0; i < SLICES; i++) {
      await nextIteration();
      slices.push(await run(count));
    }
    await nextIteration();
    values[name] = median(slices);
  }
  return values;
}
