// Prints the spans that it receives by OTLP, in JSON, as trees: docs/getting-started.md runs it.
const { createServer } = require('node:http');

const port = Number(process.env.RECEIVER_PORT ?? 4318);
createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json').end('{}');
    if (request.url !== '/v1/traces') return;
    const scopes = JSON.parse(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
    const spans = scopes.flatMap((scope) => scope.spans);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const span of spans) if (!ids.has(span.parentSpanId)) print(span, spans, '');
  });
}).listen(port, () => console.log(`receiving at port ${port}`));

function print(span, spans, indent) {
  const millis = Number(span.endTimeUnixNano - span.startTimeUnixNano) / 1e6;
  const code = Object.fromEntries(span.attributes.map(({ key, value }) => [key, value]));
  const where = ['code.function.name', 'code.file.path', 'code.line.number']
    .map((key) => Object.values(code[key] ?? {})[0])
    .filter((value) => value !== undefined);
  console.log(`${indent}${span.name}  ${millis.toFixed(1)} ms  ${where.join(' ')}`.trimEnd());
  for (const child of spans)
    if (child.parentSpanId === span.spanId) print(child, spans, `${indent}  `);
}
