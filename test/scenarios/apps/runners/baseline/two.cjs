require('./tests.cjs');
