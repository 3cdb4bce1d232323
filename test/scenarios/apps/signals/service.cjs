// A service that ends by a signal in one of the ways that services and their packages have.
const { createServer } = require('node:http');

const [way] = process.argv.slice(2);
const server = createServer((_request, response) => response.end('ok'));
// Gives nothing back: signal-exit 4 keeps a process if a callback gives `true`.
const say = (what) => void process.stdout.write(`${what}\n`);
// Late enough for the lag to have been measured, and for the watchdog thread to have started.
const listening = () => setTimeout(say, 600, `listening ${process.pid}`);
const listen = () => server.listen(0, '127.0.0.1', listening);
const LATE_MILLIS = 1000;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];
/** The test closes standard input after it has sent the signal. */
const afterSignal = (late) => process.stdin.resume().on('end', () => setTimeout(late, LATE_MILLIS));
const onSignals = (listener) => {
  for (const signal of SIGNALS) process.on(signal, listener);
};

const WAYS = {
  'no listener': listen,

  'signal-exit 3'() {
    require('signal-exit-3')((code, signal) => say(`exit ${code} ${signal}`));
    listen();
  },

  'signal-exit 4'() {
    require('signal-exit-4').onExit((code, signal) => say(`exit ${code} ${signal}`));
    listen();
  },

  'signal-exit 3 and 4'() {
    WAYS['signal-exit 3']();
    require('signal-exit-4').onExit((code, signal) => say(`exit ${code} ${signal}`));
  },

  'signal-exit 4 that keeps the process'() {
    require('signal-exit-4').onExit(() => {
      setTimeout(() => process.exit(6), 100);
      return true;
    });
    listen();
  },

  'signal-exit 4 beside a listener'() {
    require('signal-exit-4').onExit((code, signal) => say(`exit ${code} ${signal}`));
    onSignals(() => process.exit(5));
    listen();
  },

  'signal-exit 4, loaded when requests come'() {
    server.on('listening', () => require('signal-exit-4').onExit((_code, signal) => say(signal)));
    listen();
  },

  'async-exit-hook'() {
    require('async-exit-hook')((done) => setTimeout(done, 50));
    listen();
  },

  death() {
    require('death')((signal) => {
      say(`death ${signal}`);
      server.close();
    });
    process.on('SIGHUP', () => server.close());
    listen();
  },

  'close-with-grace'() {
    require('close-with-grace')({ logger: false }, async ({ signal }) => {
      say(`closes ${signal}`);
      await new Promise((resolve) => server.close(resolve));
    });
    listen();
  },

  terminus() {
    require('@godaddy/terminus').createTerminus(server, {
      signals: SIGNALS,
      onSignal: async () => say('cleans up'),
    });
    listen();
  },

  'terminus, useExit0'() {
    require('@godaddy/terminus').createTerminus(server, { signals: SIGNALS, useExit0: true });
    listen();
  },

  stoppable() {
    require('stoppable')(server, 100);
    onSignals(() => server.stop());
    listen();
  },

  fastify() {
    const app = require('fastify').fastify();
    onSignals(async () => {
      await app.close();
      process.exit(0);
    });
    app.listen({ port: 0, host: '127.0.0.1' }, listening);
  },

  'a listener that closes the server'() {
    onSignals(() => server.close());
    listen();
  },

  // As Strapi 5 does.
  'all listeners are removed, then process.exit'() {
    onSignals(async () => {
      await undefined;
      process.removeAllListeners();
      await undefined;
      process.exit();
    });
    listen();
  },

  'a listener that logs'() {
    onSignals((signal) => say(`got ${signal}`));
    listen();
  },

  'a listener that logs, and counts'() {
    onSignals((signal) => say(`got ${signal}, ${process.listenerCount(signal)}`));
    listen();
  },

  'a listener put first, that counts'() {
    for (const signal of SIGNALS)
      process.prependListener(signal, () => {
        say(process.listeners(signal).length);
        process.exit(0);
      });
    listen();
  },

  'once, then the signal again'() {
    for (const signal of SIGNALS)
      process.once(signal, async () => {
        await new Promise((resolve) => server.close(resolve));
        process.kill(process.pid, signal);
      });
    listen();
  },

  // Nothing keeps the process running when it sends itself the signal.
  'the last thing it does is to send itself the signal'() {
    listen();
    setTimeout(() => {
      server.close();
      process.exitCode = 1;
      process.kill(process.pid, 'SIGTERM');
    }, LATE_MILLIS);
  },

  // Its second signal ends it.
  'once, and never ends'() {
    for (const signal of SIGNALS) process.once(signal, () => say(`got ${signal}`));
    listen();
  },

  'a listener that comes and goes'() {
    const listener = () => process.exit(9);
    onSignals(listener);
    for (const signal of SIGNALS) process.off(signal, listener);
    onSignals(listener);
    for (const signal of SIGNALS) process.removeAllListeners(signal);
    listen();
  },

  'listeners that are taken away and put back'() {
    for (const signal of SIGNALS) {
      const before = process.listeners(signal);
      process.removeAllListeners(signal);
      for (const listener of before) process.on(signal, listener);
    }
    listen();
  },

  'as many listeners as there may be'() {
    for (let i = 0; i < process.getMaxListeners(); i++) onSignals(() => process.exit(4));
    listen();
  },

  // As `tsx` does it.
  'a hidden listener that counts the others'() {
    const { listenerCount } = process;
    onSignals((signal) => {
      if (process.listenerCount(signal) === 0) process.exit(143);
    });
    process.listenerCount = (...args) =>
      listenerCount.apply(process, args) - SIGNALS.includes(args[0]);
    listen();
  },

  'an event without a signal'() {
    listen();
    server.on('listening', () => {
      process.emit('SIGTERM');
      say('goes on');
    });
  },

  'never turns again'() {
    listen();
    setTimeout(() => {
      for (let i = 0; ; i++) Math.imul(i, i);
    }, LATE_MILLIS);
  },

  'loads for long'() {
    say('listening');
    for (const end = Date.now() + 20_000; Date.now() < end; );
  },

  // The signal would have ended it before.
  'never turns again after the signal'() {
    process.stdin.resume().on('end', () => {
      setTimeout(() => {
        for (let i = 0; ; i++) Math.imul(i, i);
      }, 200);
    });
    listen();
  },

  // The signal has ended it by then.
  'a listener that comes too late'() {
    afterSignal(() => onSignals(() => say('too late')));
    listen();
  },

  'an exit that comes too late'() {
    afterSignal(() => process.exit(3));
    listen();
  },

  'a worker thread'() {
    const { Worker } = require('node:worker_threads');
    new Worker("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)", { eval: true });
    listen();
  },
};

WAYS[way]();
