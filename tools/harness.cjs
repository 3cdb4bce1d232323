// Guarantees: one way to do what every test, benchmark and demo does with processes of its own: to
// find free ports, to wait for an answer or a message with a bound and a reason, and to leave
// telemetry out of an environment.
const { once } = require('node:events');
const { createServer } = require('node:net');
const { setTimeout: pause } = require('node:timers/promises');

const ASK_AGAIN_MILLIS = 50;

/**
 * For what cannot be told to choose one itself.
 * @returns {Promise<number[]>} ports on loopback that are free, all of them at the same time
 */
async function freePorts(/** @type {number} */ howMany) {
  const servers = Array.from({ length: howMany }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map(
    (server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port,
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** @returns {Promise<number>} a port on loopback that is free */
async function freePort() {
  const [port = 0] = await freePorts(1);
  return port;
}

/**
 * Asks again and again, until the answer is there or the time is over.
 * @template T
 * @param {string} what reported when the time is over
 * @param {number} withinMillis
 * @param {() => Promise<T | undefined | false | null>} ask an error is an answer that is not there
 *   yet
 * @returns {Promise<T>} the first answer that is there
 */
async function eventually(what, withinMillis, ask) {
  const deadline = performance.now() + withinMillis;
  /** @type {unknown} */
  let lastError;
  for (;;) {
    try {
      const answer = await ask();
      if (answer) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      const why = lastError instanceof Error ? `: ${lastError.message}` : '';
      throw new Error(`not within ${withinMillis / 1000} s: ${what}${why}`, { cause: lastError });
    }
    await pause(ASK_AGAIN_MILLIS);
  }
}

/**
 * The next message of a child process, or an error when it has ended instead.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<any>}
 */
function messageOf(child) {
  return new Promise((resolve, reject) => {
    const ended = (/** @type {number | null} */ code, /** @type {string | null} */ signal) => {
      reject(new Error(`${child.spawnargs.join(' ')} has ended (code ${code}, signal ${signal})`));
    };
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
    child.once('exit', ended);
  });
}

/**
 * This process' environment without what is about telemetry, preloads or the test runner.
 * @returns {NodeJS.ProcessEnv}
 */
function plainEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(OTEL_|JEST_|NODE_OPTIONS$)/.test(name)),
  );
}

module.exports = { eventually, freePort, freePorts, messageOf, plainEnvironment };
