// A service that knows nothing of this package. `/stick` blocks it until there is the file.
const { existsSync } = require('node:fs');
const { createServer } = require('node:http');

const [, , until] = process.argv;

const server = createServer((request, response) => {
  response.setHeader('connection', 'close').end();
  const latest = performance.now() + 20_000;
  if (request.url === '/stick') while (!existsSync(until) && performance.now() < latest);
  if (request.url === '/end') {
    server.close();
    process.disconnect?.();
  }
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`serving ${server.address().port} ${process.pid}\n`),
);
