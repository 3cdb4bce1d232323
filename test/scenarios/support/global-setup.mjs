// Guarantees: no scenario runs on a `dist/` that is older than the sources, and there is a file in
// which the tests tally void measurements.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildIfStale, isPackage } from '../../../scripts/package-build.mjs';

export default async function setUp() {
  if (isPackage) await buildIfStale(); // else the package is a tarball in node_modules
  process.env.SCENARIO_TALLY = path.join(tmpdir(), `event-loop-scenarios-${process.pid}.jsonl`);
  writeFileSync(process.env.SCENARIO_TALLY, '');
}
