const { generateKeyPairSync } = require('node:crypto');
const jwt = require('jsonwebtoken');

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A token for each shop of the user. */
exports.authenticate = function authenticate(request, response, next) {
  const count = Number(request.headers['x-sessions']);
  const tokens = Array.from({ length: count }, (_, i) =>
    jwt.sign({ shop: i }, privateKey, { algorithm: 'RS256' }),
  );
  request.user = tokens.map((token) => jwt.verify(token, publicKey).shop);
  next();
};
