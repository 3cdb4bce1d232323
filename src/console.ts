/**
 * The entry `opentelemetry-instrumentation-event-loop/console`, for `node --import` and `node
 * --require`. Exports nothing. What runs is in this file: no instrumentation is loaded.
 */
import './watchdog/own-code.ts'; // first: see there

import { startConsoleReport } from './console-report.ts';
import { markEndOfOwnCode } from './watchdog/own-code.ts';

markEndOfOwnCode((whereAmI) => whereAmI()); // last: see there
startConsoleReport();
