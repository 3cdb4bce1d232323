// Guarantees: honest counts from jest's `--json` files: a test file that could not even start
// counts as a failure, and so does a result file that is not there. `node test/matrix/results.mjs
// FILE...` prints what failed, what was skipped and "N passed, N failed", and fails when any
// failed or none ran.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/**
 * @param {string} file written by `jest --json --outputFile`
 * @returns {Counts & { failures: { name: string, message: string }[], skips: string[] }}
 */
export function readResults(file) {
  if (!existsSync(file)) {
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: [{ name: file, message: 'jest wrote no results' }],
      skips: [],
    };
  }
  const results = JSON.parse(readFileSync(file, 'utf8'));
  const failures = [];
  const skips = [];
  for (const suite of results.testResults) {
    const failed = suite.assertionResults.filter(
      (/** @type {any} */ test) => test.status === 'failed',
    );
    for (const test of suite.assertionResults)
      if (test.status === 'pending' || test.status === 'todo') skips.push(test.fullName);
    for (const test of failed)
      failures.push({ name: test.fullName, message: test.failureMessages.join('\n') });
    if (failed.length === 0 && suite.status === 'failed')
      failures.push({ name: suite.name, message: suite.message });
  }
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests + results.numTodoTests,
    failures,
    skips,
  };
}

/**
 * @param {Counts[]} counts
 * @returns {Counts}
 */
export function sum(counts) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of counts) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}

/** How much of a failure's message is printed again; the log above has all of it. */
const MESSAGE_LINES = 12;

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const results = process.argv.slice(2).map(readResults);
  for (const { name, message } of results.flatMap(({ failures }) => failures)) {
    const lines = message.split('\n').filter((line) => line.trim() !== '');
    console.log(`failed: ${name}\n  ${lines.slice(0, MESSAGE_LINES).join('\n  ')}`);
  }
  for (const name of results.flatMap(({ skips }) => skips)) console.log(`skipped: ${name}`);
  const { passed, failed, skipped } = sum(results);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
}
