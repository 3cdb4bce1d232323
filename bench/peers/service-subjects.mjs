// Guarantees: this package and its peers as subjects of the service in `service.mjs`: at work from
// the beginning, with the default threshold.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import peers from './subjects.cjs';

/** The default of this package. */
const THRESHOLD_MILLIS = 100;
const SENTRY_ALONE = '@sentry/node without it';
const DATADOG_ALONE = 'dd-trace without it';
const FLAME = '@platformatic/flame';
const peer = createRequire(join(import.meta.dirname, 'package', 'package.json'));

/**
 * @typedef {object} PeerSubject
 * @property {string} [baseline] what it is compared with, if not `nothing`
 * @property {boolean} [bringsSdk]
 * @property {string[]} [nodeOptions] with which its process is started
 * @property {Record<string, string>} [env]
 * @property {() => object[] | void} start gives instrumentations for the SDK to register
 * @property {() => object[]} [spanProcessors]
 */

/** Spans are made and thrown away, as those of the other subjects are. */
function startSentry(/** @type {object[]} */ integrations) {
  const { createTransport, init } = peer('@sentry/node');
  init({
    dsn: 'http://public@127.0.0.1:9/1',
    tracesSampleRate: 1,
    integrations,
    transport: () =>
      createTransport({ recordDroppedEvent() {} }, async () => ({ statusCode: 200 })),
  });
}

/** @type {Record<string, PeerSubject>} */
export const PEER_SUBJECTS = {
  nothing: { start() {} },
  'nothing, again': { start() {} },
  'a 20 ms timer': { start: () => void setInterval(() => {}, 20).unref() },
  ...Object.fromEntries(
    Object.entries(peers.SUBJECTS)
      .filter(([name]) => name !== 'nothing' && name !== '@sentry/node-native')
      .map(([name, { start, bringsSdk }]) => [
        name,
        {
          start: () => start({ thresholdMillis: THRESHOLD_MILLIS, report() {}, dsn: '' }),
          ...(bringsSdk && { bringsSdk }),
        },
      ]),
  ),
  'this package, with its span processor': {
    start: () => [
      new (ownPackage().EventLoopInstrumentation)({ thresholdMillis: THRESHOLD_MILLIS }),
    ],
    spanProcessors: () => [new (ownPackage().EventLoopSpanProcessor)()],
  },
  [SENTRY_ALONE]: { bringsSdk: true, start: () => startSentry([]) },
  '@sentry/node-native': {
    baseline: SENTRY_ALONE,
    bringsSdk: true,
    start: () =>
      startSentry([
        peer('@sentry/node-native').eventLoopBlockIntegration({
          threshold: THRESHOLD_MILLIS,
          maxEventsPerHour: 1,
        }),
      ]),
  },
  [DATADOG_ALONE]: {
    bringsSdk: true,
    start: () => void peers.startDatadog({ profiling: false }),
  },
  // As `flame run` starts a script.
  [FLAME]: {
    nodeOptions: ['-r', join(import.meta.dirname, 'package/node_modules', FLAME, 'preload.js')],
    env: { FLAME_AUTO_START: 'true', FLAME_DELAY: 'until-started' },
    start() {},
  },
};
Object.assign(PEER_SUBJECTS['dd-trace with profiling'], { baseline: DATADOG_ALONE });

function ownPackage() {
  return createRequire(import.meta.url)('opentelemetry-instrumentation-event-loop');
}

export const isBaseline = (/** @type {string} */ name) =>
  name === 'nothing' || Object.values(PEER_SUBJECTS).some(({ baseline }) => baseline === name);

/** What it is compared with. */
export const baselineOf = (/** @type {string} */ name) =>
  isBaseline(name) ? 'nothing' : (PEER_SUBJECTS[name].baseline ?? 'nothing');
