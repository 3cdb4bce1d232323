import { setTimeout } from 'node:timers/promises';
import { quantile, rollup } from 'd3-array';
import { orders } from './data.js';

export async function report() {
  await setTimeout(2);
  const groups = rollup(
    orders,
    (group) => ({
      median: quantile(group, 0.5, ({ total }) => total),
      customers: new Set(group.map(({ customer }) => customer.toLowerCase().replace(/\s+/g, '-')))
        .size,
    }),
    ({ day }) => day,
    ({ id }) => id % 5,
  );
  return { days: groups.size };
}
