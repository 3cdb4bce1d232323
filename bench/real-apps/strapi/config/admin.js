module.exports = {
  serveAdminPanel: false,
  auth: { secret: 'secret' },
  apiToken: { salt: 'salt' },
  transfer: { token: { salt: 'salt' } },
  secrets: { encryptionKey: 'a key of thirty-two characters..' },
};
