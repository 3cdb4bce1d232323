// A service without any package. `/report` blocks; it ends when it is asked to at `/end`.
const { createHash } = require('node:crypto');
const { createServer } = require('node:http');

function renderReport(millis) {
  const hash = createHash('sha256');
  for (const end = Date.now() + millis; Date.now() < end; ) hash.update('row');
  return hash.digest('hex');
}

const server = createServer((request, response) => {
  if (request.url === '/report') response.end(renderReport(250));
  else if (request.url === '/slow') setTimeout(() => response.end('ok'), 40);
  else {
    process.exitCode = 7;
    response.setHeader('connection', 'close');
    response.end('bye');
    server.close();
  }
}).listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
