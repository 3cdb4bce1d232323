// Guarantees: one way to read the blocks of code of a page, and the commands of README.md and
// docs/ that a reader types, each with the reason why it is not run as it stands, if there is one.
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./paths.cjs');

/** What is not run by `check -- docs`: a part of the command, and why. */
const NOT_RUN = {
  '@elastic/opentelemetry-node': 'a distribution: check -- compat runs it',
  './instrument.mjs': "Sentry's, with an account: check -- compat runs it",
  'dd-trace/initialize.mjs': 'a distribution, with an agent: check -- compat runs it',
  'node receiver.js': 'runs beside the application: check -- transcripts runs both',
  'curl ': 'asks an application that runs: each application asks itself in check -- docs',
};

/** What a command that is run begins with, after its variables. */
const KNOWN =
  /^(?:\w+=(?:'[^']*'|\S+)\s+(?:\\\n\s*)?)*(?:npm (?:install|init|start)\b|npx |node |mkdir |export )/;

/**
 * @typedef {object} CodeBlock
 * @property {string} page
 * @property {number} line of the fence
 * @property {string} language
 * @property {string} text
 */

/** @returns {CodeBlock[]} */
function codeBlocks(/** @type {string} */ page) {
  /** @type {CodeBlock[]} */
  const blocks = [];
  /** @type {{ line: number, indent: number, language: string, text: string[] } | undefined} */
  let open;
  for (const [i, line] of readFileSync(join(ROOT, page), 'utf8').split('\n').entries()) {
    const fence = /^( *)```(\w*)/.exec(line);
    if (fence === null) open?.text.push(line.slice(open.indent));
    else if (open === undefined) {
      const [, indent = '', language = ''] = fence;
      open = { line: i + 1, indent: indent.length, language, text: [] };
    } else {
      blocks.push({ page, line: open.line, language: open.language, text: open.text.join('\n') });
      open = undefined;
    }
  }
  return blocks;
}

/** Of a `console` block those behind a `$`; a line that ends with `\` or `|` goes on. */
function commandsIn(/** @type {CodeBlock} */ { language, text }) {
  const all = text.match(/^(?:.*[\\|]\n)*.*[^\\|\n]$/gm) ?? [];
  if (language !== 'console') return all;
  return all.filter((command) => command.startsWith('$ ')).map((command) => command.slice(2));
}

/**
 * @returns {{ where: string, commands: string[], reason: string | undefined }[]} a row a block, in
 *   the order of the pages; `reason` says why it is not run
 */
function blocksOfCommands() {
  const docs = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
  return ['README.md', ...docs.map((file) => `docs/${file}`)]
    .flatMap(codeBlocks)
    .filter(({ language }) => ['sh', 'console'].includes(language))
    .map((block) => ({
      where: `${block.page}:${block.line}`,
      commands: commandsIn(block),
      reason: Object.entries(NOT_RUN).find(([part]) => block.text.includes(part))?.[1],
    }));
}

module.exports = { NOT_RUN, KNOWN, codeBlocks, blocksOfCommands };
