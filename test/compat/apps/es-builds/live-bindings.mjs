// Packages whose exports are assigned to after they have been evaluated: who imports them sees the
// new value. Files are imported by their path if the package exports no more than its result.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import * as signals from 'alien-signals';
import { createToken } from 'chevrotain';
import { lexer } from 'css-tree';
import * as numbers from 'd3-format';
import * as times from 'd3-time-format';
import * as shapes from 'dagre-d3-es/src/dagre-js/shapes.js';
import { Hash } from 'effect';
import * as marked from 'marked';
import * as uuid from '../node_modules/@anthropic-ai/sdk/internal/utils/uuid.mjs';
import * as tokens from '../node_modules/chevrotain/lib/src/scan/tokens.js';
import * as match from '../node_modules/css-tree/lib/lexer/match.js';
import * as hash from '../node_modules/effect/dist/internal/hash.js';
import * as values from '../node_modules/openai/internal/utils/values.mjs';
import * as flags from '../node_modules/svelte/src/internal/flags/index.js';
import serve from './support/serve.cjs';
import work from './support/work.cjs';

const circular = {};
circular.itself = circular;
const locale = { decimal: ',', thousands: '.', grouping: [3], currency: ['', ' €'] };
const names = { dateTime: '%c', date: '%x', time: '%X', periods: ['', ''] };
const [days, months] = [Array(7).fill(''), Array(12).fill('')];

/** Package, module, export, and what makes it assign to that. */
const LIVE_BINDINGS = [
  ['@anthropic-ai/sdk', uuid, 'uuid4', () => uuid.uuid4()],
  ['alien-signals', signals, 'batchDepth', () => signals.startBatch()],
  ['chevrotain', tokens, 'tokenShortNameIdx', () => createToken({ name: 'A', pattern: /a/ })],
  ['css-tree', match, 'totalIterationCount', () => lexer.matchProperty('color', 'red')],
  ['d3-format', numbers, 'format', () => numbers.formatDefaultLocale(locale)],
  [
    'd3-time-format',
    times,
    'timeFormat',
    () =>
      times.timeFormatDefaultLocale({
        ...names,
        days,
        shortDays: days,
        months,
        shortMonths: months,
      }),
  ],
  ['dagre-d3-es', shapes, 'shapes', () => shapes.setShapes({})],
  ['effect', hash, 'backEdges', () => Hash.hash(circular)],
  ['marked', marked, 'defaults', () => marked.setOptions({ gfm: false })],
  ['openai', values, 'isArray', () => values.isArray([])],
  ['svelte', flags, 'legacy_mode_flag', () => flags.enable_legacy_mode_flag()],
];

for (const [name, module, binding, assign] of LIVE_BINDINGS) {
  const before = module[binding];
  assign();
  assert.notEqual(module[binding], before, `${name}: ${binding} has its old value`);
}

const ANSWERS = {
  '/warm': work.warm,
  '/handler': work.block,
  '/steps': work.blockInSteps,
};
const server = createServer(async ({ url }, response) => {
  response.end(JSON.stringify(await ANSWERS[url]()));
});
serve.serveHttp(server, async () => {});
