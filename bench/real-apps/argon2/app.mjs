// Fastify with add-ons and WebAssembly: argon2, tiktoken, swc, and passwords in JavaScript.
const text = (/** @type {number} */ n) =>
  Array.from({ length: n }, (_, i) => `Sentence ${i} about “prices” and 北京, twice as long.`).join(
    ' ',
  );
const code = (/** @type {number} */ n) =>
  Array.from(
    { length: n },
    (_, i) =>
      `export const f${i} = async (a?: number) => ({ ...(await g(a ?? ${i})), b: \`\${a}\` });`,
  ).join('\n');

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'argon2, tiktoken and swc',
  preload: '--import',
  args: () => ['server.mjs'],
  ready: '/health',
  cases: [
    {
      name: 'work after await of argon2.verify',
      ask: (client) => client.get('/login', { json: { password: 'secret' } }),
      right: {
        file: 'accounts.mjs',
        in: ['function permissionsOf', 'export async function login'],
      },
    },
    {
      name: 'argon2.hashSync in a handler',
      ask: (client) => client.get('/register', { json: { password: 'secret' } }),
      varies: true,
      right: { file: 'accounts.mjs', in: ['export function register'] },
    },
    {
      name: 'WebAssembly: tiktoken',
      ask: (client) => client.get('/tokens', { json: { text: text(3000) } }),
      right: { file: 'tokens.mjs', in: ['export function countTokens'] },
    },
    {
      name: 'WebAssembly module made on demand',
      ask: (client) => client.get('/models/gpt2', { json: { text: text(10) } }),
      right: { file: 'tokens.mjs', in: ['export function countWith'] },
    },
    {
      name: 'tokens in JavaScript',
      ask: (client) => client.get('/split', { json: { text: text(3000) } }),
      right: { file: 'tokens.mjs', in: ['export function split'] },
    },
    {
      name: 'transformSync of swc',
      ask: (client) => client.get('/compile', { json: { code: code(2500) } }),
      right: { file: 'compile.mjs', in: ['export function compile('] },
    },
    {
      name: 'work after await of swc.transform',
      ask: (client) => client.get('/analyse', { json: { code: code(2500) } }),
      right: { file: 'compile.mjs', in: ['export async function analyse', 'function similarity'] },
    },
    {
      name: 'bcryptjs.hashSync in a hook',
      ask: (client) => client.get('/legacy', { headers: { authorization: 'Basic dTpw' } }),
      right: { file: 'server.mjs', in: ["app.addHook('preHandler'"] },
    },
    {
      name: 'work in a callback of crypto.scrypt',
      ask: (client) => client.get('/derive'),
      right: { file: 'accounts.mjs', in: ['scrypt(', 'function stretch'] },
    },
    {
      name: 'key pair made in a handler',
      ask: (client) => client.get('/keys'),
      varies: true,
      right: { file: 'accounts.mjs', in: ['export async function rotateKeys'] },
    },
  ],
};
