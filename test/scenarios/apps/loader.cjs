// A block in TypeScript that a loader compiles in memory, and whose map only the loader has: what
// `ts-node` and others do. Arguments: the file that ends the block; `false` for no source maps.
const Module = require('node:module');
const { readFileSync } = require('node:fs');
const { transformSync } = require('esbuild');
const telemetry = require('./support/telemetry.cjs');
const { alone, inSpan, main, startInstrumented, truthOf, wait } = telemetry;

const maps = new Map();

Module._extensions['.ts'] = (module, sourcefile) => {
  const { code, map } = transformSync(readFileSync(sourcefile, 'utf8'), {
    loader: 'ts',
    format: 'cjs',
    sourcemap: 'both',
    sourcefile,
  });
  maps.set(sourcefile, new Module.SourceMap(JSON.parse(map)));
  module._compile(code, sourcefile);
};

Error.prepareStackTrace = (error, sites) => {
  const frames = sites.map((site) => {
    const [file, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
    const found = maps.get(file)?.findEntry(line - 1, column - 1);
    if (found === undefined) return `\n    at ${site}`;
    const place = `${file}:${found.originalLine + 1}:${found.originalColumn + 1}`;
    return `\n    at ${site.getFunctionName()} (${place})`;
  });
  return `${error}${frames.join('')}`;
};

const [, , endOfBlock, sourceMaps] = process.argv;
const config = { unfinishedAfterMillis: 500, sourceMaps: sourceMaps !== 'false' };
const { sdk } = startInstrumented(config);
const { hashOrders } = require('./loaded/orders.ts');

main(sdk, async () => {
  await wait(200);
  await alone(() => inSpan('job', () => truthOf('job', () => hashOrders([], endOfBlock))));
  await wait(100);
});
