// Guarantees: the path of Chromium, on the PATH or in CHROMIUM.
const { existsSync } = require('node:fs');
const { delimiter, join } = require('node:path');

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * @returns {string}
 * @throws {Error} if there is none
 */
function findChromium() {
  const { CHROMIUM, PATH = '' } = process.env;
  if (CHROMIUM) return CHROMIUM;
  const programs = PROGRAMS.flatMap((program) =>
    PATH.split(delimiter).map((folder) => join(folder, program)),
  );
  const found = programs.find((path) => existsSync(path));
  if (!found)
    throw new Error(`no Chromium: set CHROMIUM, or install one of ${PROGRAMS.join(', ')}`);
  return found;
}

module.exports = { findChromium };
