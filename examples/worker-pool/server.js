import { createServer } from 'node:http';
import { render } from './pool.js';
import { renderReport } from './report.js';

// `/report` blocks the event loop; `/report-in-pool` does the same work in a thread.
createServer(async ({ url }, response) => {
  response.end(url === '/report' ? renderReport(200_000) : await render(200_000));
}).listen(Number(process.env.PORT ?? 3000));
