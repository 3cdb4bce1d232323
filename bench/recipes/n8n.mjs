// n8n with SQLite, its first user, and workflows that a webhook starts.
import { eventually } from '../../tools/harness.cjs';
import { writeManifest } from './install.mjs';

const OWNER = { email: 'ann@example.com', password: 'Rlx7-quonfy-42zU' };
const ACTIVE_MILLIS = 20_000;
const node = (
  /** @type {string} */ name,
  /** @type {string} */ type,
  /** @type {number} */ typeVersion,
  /** @type {object} */ parameters,
) => ({
  id: name,
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion,
  position: [0, 0],
  parameters,
  ...(type === 'webhook' && { webhookId: `hook-${parameters['path']}` }),
});
const fields = (/** @type {Record<string, string>} */ values) => ({
  assignments: {
    assignments: Object.entries(values).map(([name, value]) => ({
      id: name,
      name,
      value,
      type: 'string',
    })),
  },
});

/** Each node gets what the one before it gives. */
function workflow(/** @type {string} */ name, /** @type {ReturnType<typeof node>[]} */ steps) {
  const path = name;
  const hook = node('Webhook', 'webhook', 2, {
    path,
    httpMethod: 'POST',
    responseMode: 'lastNode',
  });
  const nodes = [hook, ...steps];
  const connections = Object.fromEntries(
    nodes.slice(0, -1).map(({ name: from }, i) => {
      return [from, { main: [[{ node: nodes[i + 1].name, type: 'main', index: 0 }]] }];
    }),
  );
  return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}

const WORKFLOWS = [
  workflow('orders', [
    node('Split', 'splitOut', 1, { fieldToSplitOut: 'body.rows' }),
    node('Edit', 'set', 3.4, fields({ id: '={{ $json.id }}', sum: '={{ $json.n * 7 }}' })),
    node('Sort', 'sort', 1, { sortFieldsUi: { sortField: [{ fieldName: 'sum' }] } }),
    node('Limit', 'limit', 1, { maxItems: 5 }),
  ]),
  workflow('code', [
    node('Code', 'code', 2, {
      jsCode:
        'const rows = $input.first().json.body.rows;\n' +
        'return rows.map((row) => ({ json: { ...row, text: String(row.id).repeat(20) } }));',
    }),
    node('Hash', 'crypto', 1, { value: '={{ $json.text }}', dataPropertyName: 'hash' }),
  ]),
];

/** @type {import('./install.mjs').Product} */
export default {
  title: 'n8n 2.41',
  install(folder) {
    writeManifest(folder, { dependencies: { n8n: '2.41.1' } });
    return { rebuild: ['sqlite3'] };
  },
  env: ({ port, data }) => ({
    N8N_PORT: String(port),
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_USER_FOLDER: data,
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
    N8N_SECURE_COOKIE: 'false',
  }),
  ownSdk: { N8N_OTEL_ENABLED: 'true' },
  ready: '/rest/settings',
  readyText: /^{/,
  light: '/healthz',
  async visit(client) {
    await client.post('/rest/owner/setup', { ...OWNER, firstName: 'Ann', lastName: 'Example' });
    for (const each of WORKFLOWS) {
      const { data } = await client.post('/rest/workflows', each);
      const { id, versionId } = data;
      await client.post(`/rest/workflows/${id}/activate`, { versionId });
    }
    const rows = Array.from({ length: 2000 }, (_, i) => ({ id: i, n: (i * 7919) % 2000 }));
    for (const { name } of WORKFLOWS) {
      const ask = (/** @type {object[]} */ body) => client.post(`/webhook/${name}`, { rows: body });
      // It has answered before it is active.
      await eventually(`${name} is active`, ACTIVE_MILLIS, () => ask(rows.slice(0, 1)));
      for (let i = 0; i < 3; i++) await Promise.all([ask(rows), ask(rows)]);
    }
    for (const path of ['/rest/workflows', '/types/nodes.json', '/rest/executions?limit=50'])
      await client.together(4, path);
  },
};
