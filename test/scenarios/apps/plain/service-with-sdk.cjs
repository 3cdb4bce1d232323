require('./tracing.cjs');
require('./service.cjs');
