// Knows nothing of OpenTelemetry: what there is of it is preloaded.
const { expressService } = require('./express-service.cjs');
const { serveHttp } = require('./serve.cjs');

serveHttp(expressService(), async () => {});
