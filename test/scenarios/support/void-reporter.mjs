// Guarantees: one line at the end of a run that says how many measurements of scenarios were void,
// and for which tests, see scenario.ts.
import { existsSync, readFileSync, rmSync } from 'node:fs';

export default class VoidReporter {
  onRunComplete() {
    const file = process.env.SCENARIO_TALLY;
    if (file === undefined || !existsSync(file)) return;
    const tests = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line !== '') // no test of scenario.ts has run
      .map((line) => JSON.parse(line));
    rmSync(file);
    const count = (name) => tests.reduce((sum, test) => sum + test[name], 0);
    const [valid, voids] = [count('valid'), count('voids')];
    const repeated = tests
      .filter((test) => test.voids > 0)
      .map((test) => `${test.voids} of "${test.name}"`);
    process.stderr.write(
      `Scenarios: ${valid} measurements were valid, ${voids} were void because the machine took the CPU away` +
        `${voids > 0 ? ` and were repeated: ${repeated.join(', ')}` : ''}\n`,
    );
  }
}
