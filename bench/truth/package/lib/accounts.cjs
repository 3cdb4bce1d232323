// @ts-nocheck: an application as there are many.
const { generateKeyPairSync } = require('node:crypto');
const bcrypt = require('bcrypt');
const bcryptjs = require('bcryptjs');
const jwt = require('jsonwebtoken');
const forge = require('node-forge');
const { nanoid } = require('nanoid');
const { v5: uuid } = require('uuid');

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

const roundsFor = (n) => Math.ceil(Math.log2(n));

function hashPassword(rounds) {
  return bcryptjs.hashSync('correct horse', rounds);
}

function hashNative(rounds) {
  return bcrypt.hashSync('correct horse', rounds);
}

function signTokens(n) {
  const tokens = [];
  for (let id = 0; id < n; id++) tokens.push(jwt.sign({ id }, privateKey, { algorithm: 'RS256' }));
  return tokens;
}

function deriveKey(iterations) {
  const md = forge.md.sha256.create();
  return forge.pkcs5.pbkdf2('secret', 'salt', iterations, 32, md);
}

const seed = (n) => Array.from({ length: n }, () => nanoid());

function idsOf(n) {
  const ids = new Set();
  for (let i = 0; i < n; i++) ids.add(uuid(`https://example.com/${i}`, uuid.URL));
  return ids.size;
}

const whole = (n) => Math.ceil(n);

module.exports = {
  bcryptjs: { change: hashPassword, size: 64, make: roundsFor },
  bcrypt: { change: hashNative, size: 64, make: roundsFor },
  jsonwebtoken: { change: signTokens, size: 50, make: whole },
  'node-forge': { change: deriveKey, size: 500, make: whole },
  nanoid: { change: seed, size: 50_000, make: whole },
  uuid: { change: idsOf, size: 20_000, make: whole },
};
