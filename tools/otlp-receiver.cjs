// Guarantees: takes OTLP over HTTP as JSON, and says which spans, metrics and log records have
// come. What was sent is read when it is asked for.
const { HttpReceiver } = require('./http-receiver.cjs');
const { readLogs, readMetrics, readSpans } = require('./otlp.cjs');

/** @typedef {import('./otlp.cjs').Span} ReceivedSpan */

const TRACES = '/v1/traces';
const METRICS = '/v1/metrics';
const LOGS = '/v1/logs';

class OtlpReceiver extends HttpReceiver {
  /**
   * @param {{ port?: number, onTraces?: (request: object) => void }} [options] any free port, if
   *   none is given; `onTraces` is called with each request for traces as it comes
   */
  static async listen({ port, onTraces } = {}) {
    const receiver = new OtlpReceiver(({ path, body }) => {
      if (path === TRACES) onTraces?.(JSON.parse(String(body)));
    });
    return receiver.start(port);
  }

  /** The settings with which a process sends its telemetry here. */
  get env() {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  }

  /** Every span that has come. */
  get spans() {
    return readSpans(this.#requests(TRACES));
  }

  /** The spans of this name. */
  named(/** @type {string} */ name) {
    return this.spans.filter((span) => span.name === name);
  }

  /** Every state of every metric that has come, the latest ones last. */
  get metrics() {
    return readMetrics(this.#requests(METRICS));
  }

  /** Every log record that has come. */
  get logs() {
    return readLogs(this.#requests(LOGS));
  }

  get metricNames() {
    return new Set(this.metrics.map(({ name }) => name));
  }

  #requests(/** @type {string} */ path) {
    return this.bodies(path).map((body) => JSON.parse(String(body)));
  }
}

module.exports = { OtlpReceiver };
