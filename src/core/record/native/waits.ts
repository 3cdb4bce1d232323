/** Which of the wrapped calls wait for something else than a CPU. */

/** The modules and classes whose calls only compute. An add-on that is not known may wait. */
const COMPUTES = new Set(
  (
    'JSON structuredClone v8 module vm WebAssembly crypto zlib String Buffer TextDecoder ' +
    'TextEncoder Hash Hmac Cipher Decipher Sign Verify bcrypt'
  ).split(' '),
);

/** These do nothing but wait: it does not matter if the thread also lacked a CPU meanwhile. */
const WAITS = /^(?:Atomics\.|child_process\..*Sync$)/;

const moduleOf = (name: string) => name.split('.', 1)[0] as string;

export const onlyWaits = (name: string) => WAITS.test(name);
export const mayWait = (name: string) => !COMPUTES.has(moduleOf(name));
