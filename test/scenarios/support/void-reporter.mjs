// Guarantees: one line at the end of a run that says how many measurements of scenarios were void,
// and for which tests, see scenario.ts. A run of which a third was void has shown too little: it
// fails.
import { existsSync, readFileSync, rmSync } from 'node:fs';

const MAX_VOID = 1 / 3;
/** A run of a few tests may have bad luck. */
const FEW = 20;

export default class VoidReporter {
  #error;

  /** jest's exit code is 1 if there is one. */
  getLastError() {
    return this.#error;
  }

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
    if (valid + voids > FEW && voids > (valid + voids) * MAX_VOID) {
      this.#error = new Error('more than a third of the measurements were void');
      process.stderr.write(`${this.#error.message}: run it on a machine that is less busy\n`);
    }
  }
}
