import js from '@eslint/js';
import { ESLint, Linter } from 'eslint';
import { plugin } from './rules.mjs';

const eslint = new ESLint({ overrideConfigFile: true, overrideConfig: [js.configs.all] });

export async function lint(text) {
  const [{ messages }] = await eslint.lintText(text, { filePath: 'input.mjs' });
  return { problems: messages.length };
}

export function verify(text) {
  const linter = new Linter();
  const messages = linter.verify(text, [js.configs.all]);
  return { problems: messages.length };
}

export function verifyOwn(text) {
  const linter = new Linter();
  const messages = linter.verify(text, [
    { plugins: { own: plugin }, rules: { 'own/no-alike': 'error' } },
  ]);
  return { problems: messages.length };
}
