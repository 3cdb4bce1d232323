import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rollup } from 'rollup';
import webpack from 'webpack';

export async function webpackBundle(text, withLoader) {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await writeFile(
      join(folder, 'index.js'),
      `import * as all from './all.js';\nconsole.log(all);`,
    );
    await writeFile(join(folder, 'all.js'), text);
    const loader = new URL('./loader.cjs', import.meta.url).pathname;
    const compiler = webpack({
      mode: 'none',
      context: folder,
      entry: './index.js',
      output: { path: join(folder, 'dist') },
      module: { rules: withLoader ? [{ test: /all\.js$/, use: loader }] : [] },
    });
    return await new Promise((resolve, reject) => {
      compiler.run((error, stats) => {
        if (error) return reject(error);
        const { modules } = stats.toJson({ all: false, modules: true });
        compiler.close(() => resolve({ modules: modules.length }));
      });
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const count = {
  name: 'count',
  renderChunk(code) {
    const names = new Map();
    for (const line of code.split('\n'))
      for (const other of code.split('\n'))
        if (line.trim() === other.trim()) names.set(line, (names.get(line) ?? 0) + 1);
    return { code: `${code}\n// ${names.size}`, map: null };
  },
};

export async function rollupBundle(text, withPlugin) {
  const bundle = await rollup({
    input: 'virtual',
    plugins: [{ resolveId: (id) => id, load: () => text }, ...(withPlugin ? [count] : [])],
    onwarn() {},
  });
  const { output } = await bundle.generate({ format: 'cjs' });
  await bundle.close();
  return { length: output[0].code.length };
}
