// A line of JSON for each test that has ended, into the file that PEERS_OUTCOMES names.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

const file = process.env.PEERS_OUTCOMES;
const folder = process.cwd();

module.exports = class {
  constructor(/** @type {import('node:events').EventEmitter} */ runner) {
    for (const [event, outcome] of [
      ['pass', 'passed'],
      ['fail', 'failed'],
      ['pending', 'skipped'],
    ]) {
      runner.on(event, (test, error) => {
        const name = `${test.file ? `${relative(folder, test.file)}: ` : ''}${test.fullTitle()}`;
        const line = JSON.stringify({ name, outcome, message: error?.message });
        appendFileSync(file, `${line}\n`);
      });
    }
    runner.once('end', () => appendFileSync(file, `${JSON.stringify({ end: true })}\n`));
  }
};
