require('./work.cjs').run(process.argv[2]);
