// A trace viewer builds its tree from 10 000 log rows, with a `find` for each row, inside a custom
// span.
const { createServer } = require('node:http');
const { trace } = require('@opentelemetry/api');
const { serve, startInstrumented, truthOf } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented();
const express = require('express');

const rows = Array.from({ length: 20_000 }, (_, i) => ({
  spanId: `span-${i}`,
  parentSpanId: i === 0 ? undefined : `span-${i - 1}`,
}));

function buildTree(wanted) {
  const built = [];
  for (const row of wanted) {
    const parent = built.find((candidate) => candidate.spanId === row.parentSpanId);
    const node = { spanId: row.spanId, children: [] };
    parent?.children.push(node);
    built.push(node);
  }
  return built[0];
}

const app = express();
app.get('/trace', (request, response) => {
  const wanted = rows.slice(0, Number(request.query.rows));
  trace.getTracer('viewer').startActiveSpan('build tree', (span) => {
    const root = truthOf(`build tree of ${wanted.length}`, () => buildTree(wanted));
    span.end();
    response.send(root.spanId);
  });
});

serve(createServer(app), sdk);
