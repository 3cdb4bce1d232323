/**
 * What `docs/reference.md` has between its markers: attributes and metrics from the registry in
 * `semconv/`; options, methods and fields from the doc comments in `src/`.
 * Writes nothing: `scripts/generate-semconv.mjs` does, and a unit test compares.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./paths.cjs');
const { membersOf, text } = require('./semconv.cjs');

/**
 * @typedef {import('./semconv.cjs').Registry} Registry
 * @typedef {import('./semconv.cjs').Named} Named
 * @typedef {import('./semconv.cjs').Used} Used
 *
 * @typedef {object} Documented an option, a field or a method
 * @property {string} name
 * @property {string} type of a method: its parameters
 * @property {string} comment
 * @property {string | undefined} fallback
 */

const COLUMNS = 100;

const code = (/** @type {string} */ s) => `\`${s}\``;

/** Wraps one paragraph. The first line has `first` before it, all others `rest`. */
function wrapped(/** @type {string} */ prose, first = '', rest = '') {
  const lines = [first];
  let isNew = true;
  // Code stays on one line.
  for (const word of prose.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const line = `${lines.at(-1)}${isNew ? '' : ' '}${word}`;
    if (isNew || line.length <= COLUMNS) lines[lines.length - 1] = line;
    else lines.push(`${rest}${word}`);
    isNew = false;
  }
  return lines.join('\n');
}

/** An item of a list. Further paragraphs and lists of `prose` are inside it. */
function item(/** @type {string} */ head, /** @type {string} */ prose) {
  const [first = '', ...others] = prose.split('\n\n');
  const rest = others.map((part) => {
    if (!part.startsWith('- ')) return `\n${wrapped(part, '  ', '  ')}`;
    const items = part.split(/\n(?=- )/);
    return items.map((each) => wrapped(each.slice(2), '  - ', '    ')).join('\n');
  });
  return [wrapped(`${head} ${first}`, '- ', '  '), ...rest].join('\n');
}

/**
 * The registry's lists.
 * @param {Registry} registry
 */
function registrySections(registry) {
  const { spans, events, metrics, groups, attributes: own } = registry;
  const [span, event] = [spans[0], events[0]];
  if (!span || !event) throw new Error('the registry has no span, or no event');
  const values = new Map(own.map((attribute) => [attribute.key, membersOf(attribute)]));
  /** @param {Used[]} attributes */
  const list = (attributes) =>
    attributes
      .map((used) => {
        const members = values.get(used.key) ?? [];
        const lines = members.map(({ value, brief }) => `- ${code(value)}: ${text(brief)}`);
        const prose = `${used.brief}${example(used)}\n\n${lines.join('\n')}`;
        return item(`${headOf(used)}:`, prose.trim());
      })
      .join('\n');
  const group = (/** @type {string} */ id) => {
    const found = groups.find(({ name }) => name === id);
    if (!found) throw new Error(`no public attribute group ${id}`);
    return list(found.attributes);
  };
  return {
    span: [noteOf(span), list(span.attributes)].join('\n\n'),
    event: noteOf(event),
    stall: group('event_loop.stall'),
    link: group('event_loop.link'),
    metrics: metrics
      .map(({ name, definition: { instrument, unit, brief, note }, attributes }) => {
        const names = attributes.map(({ key }) => key.replace(/^code\..*/, 'code.*'));
        const keys = [...new Set(names)].map(code).join(', ');
        const what = [brief, note ?? '', keys && `Attributes: ${keys}.`].map(text).join(' ');
        return item(`**${code(name)}** (${instrument}, ${code(unit ?? '')}):`, what.trim());
      })
      .join('\n'),
    'metric attributes': list(
      onceEach(
        metrics.flatMap((metric) => metric.attributes),
        span,
      ),
    ),
  };
}

/**
 * Attributes without those of the span, if they mean the same there.
 * @param {Used[]} attributes
 * @param {Named} span
 */
function onceEach(attributes, span) {
  const meaning = (/** @type {Used} */ { key, brief }) => `${key} ${brief}`;
  const known = new Set(span.attributes.map(meaning));
  return attributes.filter((used) => {
    const isNew = !known.has(meaning(used));
    known.add(meaning(used));
    return isNew;
  });
}

/**
 * Without the condition of an attribute that is not required: its text says it.
 * @param {Used} used
 */
function headOf({ key, type, requirement }) {
  const facts = [type, requirement === 'required' && requirement].filter(Boolean).join(', ');
  return `**${code(key)}**${facts && ` (${facts})`}`;
}

/** The first one, if it is short. */
function example(/** @type {Used} */ { type, examples: [first] }) {
  if (type !== 'string' || typeof first !== 'string' || first.includes('\n')) return '';
  return ` Example: ${code(first)}.`;
}

/** @param {Named} signal */
const noteOf = ({ definition: { note } }) => wrapped(text(note ?? ''));

/**
 * What has a doc comment in the body of an interface or a class, and is public.
 * @param {string} file in `src/`
 * @param {string} heading the line that opens the body
 * @returns {Documented[]}
 */
function documented(file, heading) {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8').replaceAll('\r\n', '\n');
  const [, rest = ''] = source.split(`${heading} {\n`);
  const [body = ''] = rest.split('\n}\n');
  if (body === '') throw new Error(`${file} has no ${heading}`);
  const MEMBER =
    /^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(?:readonly |async )?(\w+)(?:<\w+>)?(?:\??: (.*);|(\(.*\)): .* \{)$/gm;
  return [...body.matchAll(MEMBER)]
    .filter(([, , name]) => name !== 'constructor' && !name?.startsWith('_'))
    .map(([, comment = '', name = '', type = '', parameters = '']) => {
      const lines = comment
        .trim()
        .replaceAll(/^ *\* ?/gm, '')
        .replaceAll(/\{@link (?:\w+\.)?(\w+)\}/g, '`$1`');
      const [prose = '', ...tags] = lines.split(/^@/m);
      const fallback = tags.find((tag) => tag.startsWith('default '))?.slice('default '.length);
      return {
        name,
        type: type || parameters,
        comment: `${prose.trim()}\n\n${tags.map(tagAsItem).join('')}`.trim(),
        fallback: fallback?.trim(),
      };
    });
}

/** `@param path of an HTML file` and others, as an item of a list. */
function tagAsItem(/** @type {string} */ tag) {
  const [, name, rest = ''] = /^(\w+) ([\s\S]*)$/.exec(tag.trim()) ?? [];
  if (name === 'default') return '';
  return name === 'param'
    ? `- ${rest.replace(/^\w+/, '`$&`:')}.\n`
    : `- ${name === 'returns' ? 'It returns' : 'It throws'} ${rest}.\n`;
}

/** `thresholdMillis` → `THRESHOLD_MILLIS` */
const inEnvironment = (/** @type {string} */ name) =>
  name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();

/** @param {Documented[]} options */
function optionList(options, prefix = '') {
  return options
    .map(({ name, type, comment, fallback }) => {
      const isHook = type.includes('=> ') && name.endsWith('Hook');
      const isGroup = type.endsWith('Config');
      const names = [name, ...(isHook || isGroup ? [] : [prefix + inEnvironment(name)])];
      const facts = [isHook && code(type), fallback && `default ${withCode(fallback)}`];
      const head = `**${names.map(code).join(', ')}**`;
      const about = facts.filter(Boolean).join(', ');
      return item(`${head}${about && ` (${about})`}:`, comment);
    })
    .join('\n');
}

/** `'busy'; in worker threads 'off'` */
const withCode = (/** @type {string} */ fallback) =>
  fallback.includes(';') ? fallback.replaceAll(/'\w+'/g, '`$&`') : code(fallback);

/** @param {Registry} registry */
function fieldList({ attributes }) {
  const sameAs = new Set(attributes.map(({ annotations }) => annotations?.['docs']?.['field']));
  const fields = documented('types.ts', 'export interface EventLoopBlock');
  const same = fields.filter(({ name }) => sameAs.has(name)).map(({ name }) => code(name));
  const others = fields.filter(({ name }) => !sameAs.has(name));
  return [
    item('As the attributes of these names:', `${same.join(', ')}.`),
    ...others.map(({ name, comment }) => item(`**${code(name)}**:`, comment)),
  ].join('\n');
}

/**
 * What stands between the markers of the page, by the name of the marker.
 * @param {Registry} registry
 * @returns {Record<string, string>}
 */
function referenceSections(registry) {
  return {
    options: optionList(documented('types.ts', 'export interface EventLoopInstrumentationConfig')),
    'health server': optionList(
      documented('types.ts', 'export interface HealthServerConfig'),
      'HEALTH_',
    ),
    methods: documented('instrumentation.ts', 'export class EventLoopInstrumentation')
      .map(({ name, type, comment }) => item(`**${code(name + signature(type))}**:`, comment))
      .join('\n'),
    fields: fieldList(registry),
    ...registrySections(registry),
  };
}

/** `(windowMillis: number = X)` → `(windowMillis)` */
const signature = (/** @type {string} */ parameters) =>
  parameters.replaceAll(/(\w+): [^,)]*(?:\(\) => \w+)?/g, '$1').replaceAll(/\) => \w+\)/g, ')');

const SECTION = /(<!-- generated: ([^>]+) -->\n)[\s\S]*?(<!-- end of generated -->)/g;

/**
 * The page with what stands between its markers made anew. A section without markers, and markers
 * without a section, are errors.
 * @param {string} page
 * @param {Record<string, string>} sections
 */
function withSections(page, sections) {
  const left = new Set(Object.keys(sections));
  const made = page.replace(SECTION, (_all, start, name, end) => {
    const section = sections[name];
    if (section === undefined) throw new Error(`nothing is made for the marker "${name}"`);
    left.delete(name);
    return `${start}\n${section}\n\n${end}`;
  });
  if (left.size > 0) throw new Error(`the page has no marker for ${[...left].join(', ')}`);
  return made;
}

module.exports = { referenceSections, withSections };
