const { io } = require('socket.io-client');

const socket = io(`http://127.0.0.1:${process.env.APP_PORT}`, {
  transports: ['websocket'],
  reconnectionDelayMax: 200,
});
socket.on('job', (job) => socket.emit('job', job));
process.send(0);
