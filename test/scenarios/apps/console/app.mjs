import work from './work.cjs';

await work.run(process.argv[2]);
