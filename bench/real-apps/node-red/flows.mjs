// The flows as Node-RED's editor would save them: what is between `http in` and `http response`.

const set = (/** @type {string} */ to, tot = 'str') => ({
  type: 'change',
  rules: [{ t: 'set', p: 'payload', pt: 'msg', to, tot }],
});
/** Code as the editor keeps it: as text. */
const call = (/** @type {string} */ name, /** @type {string} */ func) => ({
  id: name,
  type: 'function',
  name,
  func,
  outputs: 1,
  libs: [],
});
const ok = set('ok');

/** @type {Record<string, object[]>} */
const PATHS = {
  '/health': [ok],
  '/csv': [{ type: 'csv', hdrin: true, hdrout: 'none', sep: ',', multi: 'mult' }, ok],
  '/xml': [{ type: 'xml', property: 'payload', attr: '', chr: '' }, ok],
  '/yaml': [{ type: 'yaml', property: 'payload' }, ok],
  '/json': [
    { type: 'json', property: 'payload', action: '' },
    { type: 'json', property: 'payload', action: 'str', pretty: true },
  ],
  '/links': [
    {
      type: 'html',
      property: 'payload',
      tag: 'div.card a[rel=nofollow]',
      ret: 'attr',
      as: 'single',
    },
  ],
  '/totals': [
    set('$map($distinct(payload.sku), function($s) { $sum(payload[sku = $s].price) })', 'jsonata'),
  ],
  '/page': [
    call('catalogue', "msg.payload = global.get('catalogue');\nreturn msg;"),
    {
      type: 'template',
      field: 'payload',
      fieldType: 'msg',
      syntax: 'mustache',
      template:
        '<ul>{{#payload}}<li>{{name}}: {{price}} {{#tags}}<b>{{.}}</b>{{/tags}}</li>{{/payload}}</ul>',
    },
  ],
  '/split': [
    { type: 'split', splt: '\\n', spltType: 'str', arraySplt: 1, arraySpltType: 'len' },
    { type: 'join', mode: 'auto' },
    ok,
  ],
  '/sorted': [
    {
      type: 'sort',
      target: 'payload',
      targetType: 'msg',
      msgKey: '$lowercase(name)',
      msgKeyType: 'jsonata',
      order: 'ascending',
    },
    ok,
  ],
  '/duplicates': [
    call(
      'duplicates',
      `const seen = [];
for (const { name } of msg.payload) {
  if (!seen.some((other) => other.toLowerCase() === name.toLowerCase())) seen.push(name);
}
msg.payload = { seen: seen.length };
return msg;`,
    ),
  ],
  '/quote': [
    call('basket', `msg.payload = { total: global.get('quote')(msg.payload) };\nreturn msg;`),
  ],
  '/geo': [{ type: 'geo' }],
};

const AFTERWARDS = call(
  'audit',
  `let sum = 0;
for (let i = 0; i < msg.payload.length * 3000; i++) sum = (sum * 31 + i) % 1000003;
global.set('audited', sum);
return null;`,
);

export function flows() {
  /** @type {any[]} */
  const nodes = [{ id: 'tab', type: 'tab', label: 'Orders' }];
  const add = (/** @type {any[]} */ chain, /** @type {string} */ prefix) =>
    chain.forEach((node, i) => {
      const next = chain[i + 1];
      const wires = next ? [[next.id ?? `${prefix}${i + 1}`]] : [];
      nodes.push({ id: `${prefix}${i}`, z: 'tab', x: 0, y: 0, wires, ...node });
    });
  Object.entries(PATHS).forEach(([url, chain], i) => {
    const method = url === '/health' ? 'get' : 'post';
    add([{ type: 'http in', url, method }, ...chain, { type: 'http response' }], `n${i}x`);
  });
  // It answers at once, and does the work two tenths of a second later.
  add([{ type: 'http in', url: '/later', method: 'post', wires: [['b0', 'c0']] }], 'a');
  add([ok, { type: 'http response', statusCode: '202' }], 'b');
  add(
    [
      { type: 'delay', pauseType: 'delay', timeout: '200', timeoutUnits: 'milliseconds' },
      AFTERWARDS,
    ],
    'c',
  );
  return nodes;
}
