/**
 * The code of the entries `index` and `console`, built into one file that both import, and
 * `/testing`, too. It is one module, so that it knows which positions are its own: see
 * `sample/own-code.ts`.
 */
import { markEndOfOwnCode } from './core/sample/own-code.ts'; // first: see there

export { BLOCK_CHANNEL, LAG_CHANNEL, REQUEST_CHANNEL } from './channels.ts';
export { startConsoleReport } from './console-report.ts';
export { EventLoopSpanProcessor } from './core/stalls/event-loop-span-processor.ts';
export { EventLoopInstrumentation, forRecording } from './instrumentation.ts';

markEndOfOwnCode((whereAmI) => whereAmI()); // last: see there
