import './tracing.cjs';
import './service.mjs';
