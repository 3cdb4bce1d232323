const { pack } = require('msgpackr');
const sanitizeHtml = require('sanitize-html');
const documents = require('./documents');
const { isSpam } = require('./moderation');

exports.onConnection = (io) => (socket) => {
  socket.use(([name, text], next) => {
    if (name === 'spam' && isSpam(text)) return next(new Error('spam'));
    next();
  });
  socket.on('post', (html, done) => {
    const clean = sanitizeHtml(html, { allowedTags: ['p', 'b', 'a'] });
    done(clean.length);
  });
  socket.on('edit', async (before, after, done) => {
    const current = await documents.read();
    done(documents.merge(before, after, current));
  });
  socket.on('operations', (count, done) => {
    done(documents.compose(count));
  });
  socket.on('broadcast', (count, done) => {
    for (let i = 0; i < count; i++) {
      const changed = documents.messages[i];
      socket
        .to(`room-${i % 50}`)
        .emit('changed', { id: changed.id, text: changed.text.slice(0, 20) });
    }
    done(count);
  });
  socket.on('history', (count, done) => {
    const packed = pack(
      documents.messages
        .slice(0, count)
        .map((message) => ({ ...message, likes: { a: 1, b: [2] } })),
    );
    done(packed.length);
  });
  socket.on('spam', (text, done) => done(text.length));
  socket.on('everything', (done) => done(documents.messages));
};
