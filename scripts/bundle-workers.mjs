// `npm run generate`: the code of the threads as strings, see worker-code.mjs.
import { generateWorkerCode } from './worker-code.mjs';

await generateWorkerCode();
