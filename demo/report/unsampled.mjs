// A request that was not sampled: it has no span, and its block is a log event.
import { blockDetails } from './block-details.mjs';
import { paint, plural, spread } from './style.mjs';

/**
 * @param {import('./index.mjs').Result['unsampled']} unsampled
 * @param {number} width
 * @returns {string[]}
 */
export function unsampledLines({ endpoint, spans, events }, width) {
  return [
    spread(
      ` ${paint.block('●')} ${paint.title(endpoint.path)}${paint.dim('  a request that is not sampled')}`,
      paint.dim(`${plural(spans, 'span')}, ${plural(events.length, 'log event')}`),
      width,
    ),
    ...events.flatMap((event) => [
      ` ${paint.request(event.eventName)} ${paint.dim(event.severityText)}`,
      `   ${blockDetails(event, width - 3)}`,
    ]),
  ];
}
