// Guarantees: async hooks that do nothing, which is what Node.js itself takes for any.
const { createHook } = require('node:async_hooks');

createHook({ before() {}, after() {} }).enable();
