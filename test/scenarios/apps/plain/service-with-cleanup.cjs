// Ends at a SIGTERM by itself, after what it has to do.
require('./service.cjs');

process.once('SIGTERM', () => setTimeout(() => process.exit(3), 300));
