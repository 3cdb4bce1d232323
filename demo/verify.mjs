// Whether the telemetry that the demo promises to show has come. Each problem is a sentence for the person who ran it.
import { BLOCK_SPAN, blocksOf, LAG_METRIC } from './telemetry-reader.mjs';

/**
 * @param {{ phases: import('./report/index.mjs').Phase[], lag: object | undefined }} result
 * @returns {string[]} empty when all is there
 */
export function missingTelemetry({ phases, lag }) {
  const problems = [];
  for (const { endpoint, traces } of phases) {
    const name = `${endpoint.method} ${endpoint.path}`;
    const blocks = traces.flatMap(blocksOf);
    if (traces.length === 0) problems.push(`${name}: no trace of its requests was exported`);
    else if (endpoint.blocks && blocks.length === 0) {
      problems.push(
        `${name}: it holds the loop, but none of its ${traces.length} traces has an ${BLOCK_SPAN} span`,
      );
    }
  }
  if (!lag) problems.push(`the metric ${LAG_METRIC} was not exported`);
  return problems;
}
