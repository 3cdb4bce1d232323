import { createRequire } from 'node:module';
import { listener } from './listener.cjs';
import { serveHttp } from './support/serve.cjs';
import { shutdown } from './telemetry.mjs';

// Without a loader, the HTTP instrumentation patches a module that is required, and only after it
// was set up.
const { createServer } = createRequire(import.meta.url)('node:http');

serveHttp(createServer(listener), shutdown);
