/** A control group with a CPU quota, for apps. Linux. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** A control group with half of a CPU, until `drop` is called. */
export interface QuotaGroup {
  /** Of `runApp`: the app joins the group. */
  options: { node: string; nodeArgs: string[] };
  drop(): void;
}

/** Takes root, and control groups that are mounted for writing. */
export function quotaGroup(): QuotaGroup | undefined {
  const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const group = `/sys/fs/cgroup/${isV2 ? '' : 'cpu/'}event-loop-suspensions-${process.pid}`;
  // Neighbours outside the group get little, so that the quota is what limits it.
  const settings = isV2
    ? { 'cpu.max': '50000 100000', 'cpu.weight': '10000' }
    : { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '50000', 'cpu.shares': '262144' };
  let isMade = false;
  const drop = () => {
    if (isMade) rmdirSync(group);
    isMade = false;
  };
  try {
    mkdirSync(group);
    isMade = true;
    for (const [file, value] of Object.entries(settings)) writeFileSync(`${group}/${file}`, value);
    const join = `echo $$ > ${group}/cgroup.procs && exec "$@"`;
    return { options: { node: 'sh', nodeArgs: ['-c', join, 'sh', process.execPath] }, drop };
  } catch {
    drop();
    return undefined;
  }
}
