// Preloaded: the wall clock is stepped by the variable CLOCK_STEP, in milliseconds, once a server
// listens.
const { Server } = require('node:net');
const { now } = Date;
const { listen } = Server.prototype;
let shift = 0;

Date.now = () => now() + shift;
Server.prototype.listen = function (...args) {
  return listen.apply(this, args).once('listening', () => {
    shift = Number(process.env.CLOCK_STEP);
  });
};
