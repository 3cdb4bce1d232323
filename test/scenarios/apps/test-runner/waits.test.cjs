const { test } = require('node:test');

test('waits while the runner is blocked', () => new Promise((done) => setTimeout(done, 1000)));
