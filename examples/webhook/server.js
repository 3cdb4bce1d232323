import { createServer } from 'node:http';
import { renderReport } from './report.js';

createServer((_request, response) => {
  response.end(renderReport(200_000));
}).listen(Number(process.env.PORT ?? 3000));
