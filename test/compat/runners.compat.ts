/**
 * Test runners with their default transforms: a failure names the line of the source, not of the
 * transformed code.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from '../scenarios/support/scenario.ts';
import { judgeUnlessDelayed, lateOf } from '../scenarios/support/validity.ts';
import { startWitness } from '../scenarios/support/witness.ts';
import { type Selected, selectedFor } from './support/selection.ts';

/** What the machine may take: the block that fails takes 300 ms. */
const DELAY_MILLIS = 30;
const ARGUMENTS: Record<string, string[]> = {
  jest: ['jest/bin/jest.js'],
  vitest: ['vitest/vitest.mjs', 'run'],
};

/** What the runner prints of the tests with that name. */
async function outputOf(
  { subject, folder, node, problem }: Selected,
  name: string,
  env: Record<string, string> = {},
): Promise<string> {
  if (problem !== undefined) throw new Error(problem);
  const [file = '', ...args] = ARGUMENTS[subject.name] as string[];
  const own = Object.entries(process.env).filter(
    ([key]) => !/^(OTEL_|NODE_|JEST_|VITEST|FORCE_COLOR|COMPAT_)/.test(key),
  );
  const runner = spawn(
    node,
    [path.join(folder, 'node_modules', file), ...args, subject.app, '-t', name],
    {
      cwd: path.join(folder, 'app'),
      env: { ...Object.fromEntries(own), NO_COLOR: '1', ...env },
    },
  );
  let output = '';
  for (const stream of [runner.stdout, runner.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await new Promise((resolve) => runner.once('close', resolve));
  return output;
}

describe.each(selectedFor('runners'))('$subject.name', (choice) => {
  const app = path.join(choice.folder, 'app');

  test('a failure names the line of the source, in its first line and in the stack', async () => {
    const witness = await startWitness();
    const output = await outputOf(choice, 'fails').finally(() => witness.stop());
    const { stalls } = await witness.stop();
    judgeUnlessDelayed(lateOf(stalls), DELAY_MILLIS, () => {
      const places = [...output.matchAll(/hashRow \(\S*?((?:report|work)\.m?js):(\d+):\d+\)/g)];
      expect(places.length).toBeGreaterThan(0);
      for (const [place, file = '', line] of places) {
        const source = readFileSync(path.join(app, file), 'utf8').split('\n');
        expect(`${place} ${source[Number(line) - 1]}`).toMatch(/ \/\/ BLOCKS$/);
      }
    });
  });
});
