// Promises: this package and its peers as subjects of the service in `service.mjs`: at work from
// the beginning, with the default threshold.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import peers from './subjects.cjs';

const THRESHOLD_MILLIS = 100;
const SENTRY_ALONE = '@sentry/node without it';
const peer = createRequire(join(import.meta.dirname, 'package', 'package.json'));

/**
 * @typedef {object} PeerSubject
 * @property {string} [baseline] what it is compared with, if not `nothing`
 * @property {boolean} [bringsSdk]
 * @property {() => object[] | void} start gives instrumentations for the SDK to register
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
  ...Object.fromEntries(
    Object.entries(peers.SUBJECTS)
      .filter(([name]) => name !== 'nothing' && name !== '@sentry/node-native')
      .map(([name, { start }]) => [
        name,
        { start: () => start({ thresholdMillis: THRESHOLD_MILLIS, report() {}, dsn: '' }) },
      ]),
  ),
  [SENTRY_ALONE]: { bringsSdk: true, start: () => startSentry([]) },
  '@sentry/node-native': {
    baseline: SENTRY_ALONE,
    bringsSdk: true,
    start: () =>
      startSentry([
        peer('@sentry/node-native').eventLoopBlockIntegration({ threshold: THRESHOLD_MILLIS }),
      ]),
  },
};
