import babel from '@babel/core';
import presetEnv from '@babel/preset-env';
import cssnano from 'cssnano';
import postcss from 'postcss';
import * as prettier from 'prettier';
import { minify } from 'terser';

export async function minifyCode(text) {
  const { code } = await minify(text, { module: true, compress: { passes: 2 } });
  return { length: code.length };
}

export async function transpile(text) {
  const { code } = await babel.transformAsync(text, {
    presets: [[presetEnv, { targets: { node: '10' } }]],
    configFile: false,
    babelrc: false,
  });
  return { length: code.length };
}

export async function formatCode(text) {
  const formatted = await prettier.format(text, { parser: 'babel', singleQuote: true });
  return { length: formatted.length };
}

export async function minifyCss(text) {
  const { css } = await postcss([cssnano({ preset: 'default' })]).process(text, {
    from: undefined,
  });
  return { length: css.length };
}

export async function compileTypeScript(text) {
  const { default: ts } = await import('typescript');
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2017, module: ts.ModuleKind.CommonJS },
  });
  return { length: outputText.length };
}
