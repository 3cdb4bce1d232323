/** Endpoints of the project, beside those that Payload makes of the collections. */
export const reports = [
  { path: '/health', method: 'get', handler: () => Response.json({ ok: true }) },
  { path: '/reports/rows', method: 'get', handler: rowReport },
  { path: '/reports/similar', method: 'get', handler: similarPages },
  { path: '/jobs', method: 'post', handler: queueJobs },
];

async function rowReport({ payload }) {
  const { docs } = await payload.find({ collection: 'pages', limit: 20, depth: 0 });
  const sums = {};
  for (let round = 0; round < 4000; round++) {
    for (const { rows } of docs) {
      for (const { label, amount } of rows) sums[label] = (sums[label] ?? 0) + amount;
    }
  }
  return Response.json(sums);
}

async function similarPages({ payload }) {
  const { docs } = await payload.find({ collection: 'pages', limit: 60, depth: 0 });
  return Response.json({
    pairs: countPairs(docs.map((page) => JSON.stringify(page).slice(0, 700))),
  });
}

function countPairs(texts) {
  let pairs = 0;
  for (const text of texts) {
    for (const other of texts) if (distance(text, other) < 20) pairs++;
  }
  return pairs;
}

/** How many letters differ. */
function distance(text, other) {
  let different = 0;
  for (let i = 0; i < text.length; i++) {
    for (let near = i; near < i + 8; near++) if (text[i] !== other[near]) different++;
  }
  return different;
}

async function queueJobs({ payload }) {
  for (let part = 0; part < 4; part++)
    await payload.jobs.queue({ task: 'digest', input: { part } });
  return Response.json({}, { status: 202 });
}
