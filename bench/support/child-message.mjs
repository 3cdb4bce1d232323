// Guarantees: the next message of a child process, or an error when it has ended instead.

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<any>}
 */
export function messageOf(child) {
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
