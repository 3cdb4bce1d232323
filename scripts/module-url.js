// The URL of a built CommonJS file, which has no `import.meta.url`: put into files that need it.
import { pathToFileURL } from 'node:url';

export const moduleUrl = /* @__PURE__ */ pathToFileURL(__filename);
