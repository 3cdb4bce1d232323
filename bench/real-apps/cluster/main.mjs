import cluster from 'node:cluster';

if (cluster.isPrimary) {
  for (let i = 0; i < 2; i++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
  });
  cluster.on('exit', (worker, code) => {
    process.exitCode = code;
  });
} else {
  await import('./server.mjs');
}
