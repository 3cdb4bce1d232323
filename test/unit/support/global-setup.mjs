// Guarantees: no unit test runs on code of threads that is older than its sources.
import { generateWorkerCode } from '../../../scripts/worker-code.mjs';

export default generateWorkerCode;
