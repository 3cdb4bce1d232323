// Runs a program that ends when its parent process is gone, even killed: the channel to it closes
// then. Forked as `supervisor.mjs PROGRAM ARGUMENT...`; `{ signal }` sends a signal to the program,
// whose end is this process' end.
import { spawn } from 'node:child_process';

const PATIENCE_MILLIS = 5_000;

const program = spawn(process.argv[2], process.argv.slice(3), {
  stdio: ['ignore', 'inherit', 'inherit'],
});
program.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
program.once('exit', (code, signal) => process.exit(signal ? 1 : code));

process.on('message', ({ signal }) => program.kill(signal));
process.once('disconnect', () => {
  program.kill('SIGTERM');
  setTimeout(() => program.kill('SIGKILL'), PATIENCE_MILLIS);
});
// A Ctrl-C in the terminal reaches the whole process group: the test decides, and it lets go.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
