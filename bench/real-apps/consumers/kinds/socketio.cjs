const { once } = require('node:events');
const { Server } = require('socket.io');
const { done, run } = require('../work.cjs');

exports.start = async (server) => {
  const io = new Server(server);
  const connected = once(io, 'connection');
  io.on('connection', (socket) => socket.on('job', run));
  await connected;
  return {
    ask: (job) => {
      io.emit('job', job);
      return done(job);
    },
  };
};
