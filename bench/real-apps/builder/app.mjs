// ESLint, webpack, rollup and others as a service.
const source = (/** @type {number} */ n) =>
  Array.from(
    { length: n },
    (_, i) =>
      `export function f${i}(a, b) {\n  const unused${i} = [a, b].map((x) => x * ${i});\n  if (a == b) { return \`\${a}\`; }\n  return { ...a, b, c: a?.b ?? ${i} };\n}\n`,
  ).join('\n');
const css = Array.from(
  { length: 700 },
  (_, i) => `.a${i} > b { color: #ff00${(i % 90) + 10}; margin: 0px 0px ${i}px; display: flex }`,
).join('\n');
const post =
  (/** @type {string} */ path, /** @type {string} */ body) =>
  (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get(path, { method: 'POST', body, headers: { 'content-type': 'text/plain' } });

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'ESLint, webpack and rollup as a service',
  preload: '--import',
  args: () => ['server.mjs'],
  ready: '/health',
  cases: [
    {
      name: 'ESLint#lintText',
      ask: post('/lint', source(150)),
      right: [
        { file: 'tools/lint.mjs', in: ['export async function lint'] },
        { packages: ['eslint'] },
      ],
    },
    {
      name: 'Linter#verify',
      ask: post('/verify', source(150)),
      right: { file: 'tools/lint.mjs', in: ['export function verify'] },
    },
    {
      name: 'a rule of our own',
      ask: post('/own-rule', source(110)),
      right: { file: 'tools/rules.mjs', in: ['Identifier('] },
    },
    {
      name: 'webpack, a run of the compiler',
      ask: post('/webpack', source(100)),
      varies: true,
      right: [
        { file: 'tools/bundle.mjs', in: ['export async function webpackBundle'] },
        { packages: ['webpack'] },
      ],
    },
    {
      name: 'a loader of our own in webpack',
      ask: post('/webpack-loader', source(90)),
      varies: true,
      right: { file: 'tools/loader.cjs', in: ['module.exports'] },
    },
    {
      name: 'rollup, after await of its parser',
      ask: post('/rollup', source(900)),
      right: [
        { file: 'tools/bundle.mjs', in: ['export async function rollupBundle'] },
        { packages: ['rollup'] },
      ],
    },
    {
      name: 'a plugin of our own in rollup',
      ask: post('/rollup-plugin', source(400)),
      right: { file: 'tools/bundle.mjs', in: ['renderChunk('] },
    },
    {
      name: 'terser',
      ask: post('/minify', source(150)),
      right: [
        { file: 'tools/minify.mjs', in: ['export async function minifyCode'] },
        { packages: ['terser'] },
      ],
    },
    {
      name: 'babel.transformAsync',
      ask: post('/babel', source(100)),
      right: [
        { file: 'tools/minify.mjs', in: ['export async function transpile'] },
        { packages: ['@babel/core'] },
      ],
    },
    {
      name: 'prettier',
      ask: post('/format', source(80)),
      right: [
        { file: 'tools/minify.mjs', in: ['export async function formatCode'] },
        { packages: ['prettier'] },
      ],
    },
    {
      name: 'postcss with cssnano',
      ask: post('/css', css),
      right: [
        { file: 'tools/minify.mjs', in: ['export async function minifyCss'] },
        { packages: ['postcss', 'cssnano'] },
      ],
    },
    {
      name: 'TypeScript transpileModule',
      ask: post('/typescript', source(250)),
      right: { file: 'tools/minify.mjs', in: ['export async function compileTypeScript'] },
    },
  ],
};
