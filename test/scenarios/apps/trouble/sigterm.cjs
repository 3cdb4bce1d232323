// A block every so often. At a SIGTERM it ends at once, or lets go of what keeps it running.
const { work } = require('./telemetry.cjs');
const [how] = process.argv.slice(2);

let busy = 0;
const timer = setInterval(() => {
  work(300);
  if (++busy === 2) console.log('ready');
}, 400);

process.once('SIGTERM', () => {
  if (how === 'process.exit') process.exit(0);
  clearInterval(timer);
});
