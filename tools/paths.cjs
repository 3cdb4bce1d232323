// Guarantees: where the repository is, and where its tools write. Everything written lives in the
// git-ignored `.matrix/`.
const { join, resolve } = require('node:path');

const ROOT = resolve(__dirname, '..');
const MATRIX = join(ROOT, '.matrix');
const PACKAGE_NAME = 'opentelemetry-instrumentation-event-loop';

module.exports = { MATRIX, PACKAGE_NAME, ROOT };
