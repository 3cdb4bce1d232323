// The loop profile: which functions and which routes used the event loop, whether or not they
// blocked it.
import { BUSY_SAMPLES_METRIC } from '../telemetry-reader.mjs';
import { padEnd, padStart, paint, plural, solidBar, spread, truncate } from './style.mjs';

const SHOWN = 4;
const LABEL_CELLS = 44;

/**
 * @param {NonNullable<import('./index.mjs').Result['loopProfile']>} profile
 * @param {number} width
 * @returns {string[]}
 */
export function loopProfileLines({ samples, functions, routes }, width) {
  const barCells = width - LABEL_CELLS - 10;
  const row = ({ name, samples: own }) => {
    const share = own / samples;
    return (
      ` ${padEnd(truncate(name, LABEL_CELLS - 1), LABEL_CELLS)}` +
      padEnd(paint.request(solidBar(share * barCells)), barCells) +
      padStart(`${Math.round(share * 100)} %`, 8)
    );
  };
  return [
    spread(
      `${paint.title(` ${BUSY_SAMPLES_METRIC}`)}${paint.dim('  who used the event loop, by function and by route')}`,
      paint.dim(plural(Math.round(samples), 'sample')),
      width,
    ),
    ...functions.slice(0, SHOWN).map(row),
    ...routes.slice(0, SHOWN).map(row),
  ];
}
