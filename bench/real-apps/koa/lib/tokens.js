import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';

export class TokenIssuer {
  #key = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

  issueAll(devices) {
    return devices.map((device) => this.#issue(device));
  }

  #issue(device) {
    return jwt.sign({ device, scope: ['read'] }, this.#key.privateKey, {
      algorithm: 'RS256',
      expiresIn: '1h',
    });
  }
}
