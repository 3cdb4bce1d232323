// The service for requests made by hand: prints the waterfall of each as it comes in, until it is
// stopped.
import { once } from 'node:events';
import { ENDPOINTS } from '../tools/demo-service/endpoints.cjs';
import { readSpans, readTraces } from '../tools/otlp.cjs';
import { paint, reportWidth } from './report/style.mjs';
import { waterfall, waterfallColumns } from './report/waterfall.mjs';

// a trace is shown when none of its spans came for this long; the service exports every 200 ms
const QUIET_MILLIS = 600;

/**
 * @returns {(request: object) => void} takes trace requests, prints each trace once it is complete
 */
export function printTraces(write) {
  const incomplete = new Map();
  return (request) => {
    for (const span of readSpans([request])) {
      const trace = incomplete.get(span.traceId) ?? { spans: [], timer: undefined };
      incomplete.set(span.traceId, trace);
      trace.spans.push(span);
      clearTimeout(trace.timer);
      trace.timer = setTimeout(() => {
        incomplete.delete(span.traceId);
        const trees = readTraces(trace.spans);
        const columns = waterfallColumns(trees, reportWidth(process.stdout));
        for (const tree of trees) write(`\n${waterfall(tree, undefined, columns).join('\n')}\n`);
      }, QUIET_MILLIS);
    }
  };
}

/** Says what to try, then waits for Ctrl-C. */
export async function serveByHand(origin, write) {
  const curl = (options) => paint.code(`curl ${options}`);
  const tries = ENDPOINTS.filter(({ method }) => method === 'GET').map(({ path }) =>
    curl(`${origin}${path}`),
  );
  tries.push(
    `${curl(`${origin}/big-json -H content-type:application/json -d @file.json`)}  any large JSON array`,
    curl(`${origin}/healthcheck`),
  );
  write(`The service listens. Try, from another terminal:\n\n  ${tries.join('\n  ')}\n\n`);
  write('The trace of each request appears here. Ctrl-C ends it.\n');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
