import { createHash, generateKeyPairSync, scrypt } from 'node:crypto';
import { hashSync, verify } from '@node-rs/argon2';
import { exportJWK } from 'jose';

const stored = hashSync('secret', { memoryCost: 4096, timeCost: 2 });

export async function login(password) {
  const isRight = await verify(stored, password);
  return { isRight, permissions: permissionsOf('u1') };
}

function permissionsOf(user) {
  const rules = Array.from({ length: 20000 }, (_, i) => ({
    on: `/r/${i % 500}/*`,
    allow: i % 3 > 0,
  }));
  const granted = new Set();
  for (const { on, allow } of rules) {
    const matches = new RegExp(`^${on.replace('*', '.*')}$`);
    if (allow && matches.test(`/r/${user.length * 7}/x`)) granted.add(on);
  }
  return [...granted];
}

export function register(password) {
  return hashSync(password, { memoryCost: 32768, timeCost: 3, parallelism: 1 });
}

export function derive(password, done) {
  scrypt(password, 'salt', 32, { N: 1024 }, (error, key) => {
    if (error) return done(error);
    done(null, stretch(key));
  });
}

function stretch(key) {
  let value = key;
  for (let i = 0; i < 40000; i++) value = createHash('sha256').update(value).digest();
  return value.toString('hex');
}

export async function rotateKeys() {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return exportJWK(publicKey);
}
