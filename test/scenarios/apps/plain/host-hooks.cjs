// A host that leaves contexts, switches hooks of its own, or ends `vm` code in a microtask, while
// it blocks. It ends with code 0 and says so, unless a stack sample in the middle of that has
// changed anything.
const { AsyncLocalStorage, createHook } = require('node:async_hooks');
const vm = require('node:vm');
const { setTimeout: wait } = require('node:timers/promises');

const ROUNDS = 80;
const ROUND_MILLIS = 15;

const storage = new AsyncLocalStorage();
let lost = 0;

/** Calls `step` again and again for a while, in a context that is to stay. */
async function round(number, step) {
  await storage.run(number, async () => {
    const end = performance.now() + ROUND_MILLIS;
    for (let i = 0; performance.now() < end; i++) {
      for (let k = 0; k < 20; k++) step(k);
      if (i % 7 === 0) await null;
      if (storage.getStore() !== number) lost++;
    }
  });
}

const hooks = [0, 1, 2].map(() => createHook({ init() {}, before() {}, after() {} }));

const WAYS = {
  leaves: (i) => round(i, () => storage.exit(() => {})),
  async switches(i) {
    await round(i, (k) => {
      hooks[k % 3].enable();
      hooks[(k + 1) % 3].disable();
    });
    for (const hook of hooks) hook.disable();
  },
  async ends(i) {
    const code = 'Promise.resolve().then(() => { for (;;); })';
    const options = { timeout: 30, microtaskMode: 'afterEvaluate' };
    try {
      vm.runInNewContext(code, {}, options);
    } catch (error) {
      if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    }
    // The loop comes to rest now and then: the next callback wakes it up.
    if (i % 8 === 7) await wait(400);
  },
};

(async () => {
  const way = process.argv[2];
  await wait(500);
  const rounds = way === 'ends' ? ROUNDS / 5 : ROUNDS;
  for (let i = 0; i < rounds; i++) {
    await WAYS[way](i);
    await wait(1);
  }
  console.log(JSON.stringify({ way, lost }));
})();
