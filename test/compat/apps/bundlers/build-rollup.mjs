import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import nodeResolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';

const bundle = await rollup({
  input: 'service.mjs',
  plugins: [nodeResolve({ exportConditions: ['node'], preferBuiltins: true }), commonjs(), json()],
  onLog() {},
});
await bundle.write({ file: 'out/rollup.mjs', format: 'es', inlineDynamicImports: true });
await bundle.close();
