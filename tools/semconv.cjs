/**
 * The registry in `semconv/*.yaml`, in the format of OpenTelemetry's Weaver (definition/2), and the
 * source of `src/semconv.ts`, which is made from it. `tools/reference.cjs` makes the reference.
 * Writes nothing: `scripts/generate-semconv.mjs` does, and a unit test compares.
 */
const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const { parse } = require('yaml');

const ROOT = join(__dirname, '..');
const FOLDER = join(ROOT, 'semconv');
const MANIFEST = 'manifest.yaml';
const COLUMNS = 100;

/**
 * @typedef {Record<string, Record<string, unknown>>} Annotations
 * @typedef {{ id: string, value: string, brief: string, annotations?: Annotations }} Member
 * @typedef {string | Record<string, string>} Requirement
 *
 * @typedef {object} Attribute
 * @property {string} key
 * @property {string | { members: Member[] }} type
 * @property {string} brief
 * @property {string} [note]
 * @property {string} stability
 * @property {unknown} [examples]
 * @property {Annotations} [annotations]
 *
 * @typedef {object} Ref a reference to an attribute, or to a group of them
 * @property {string} [ref]
 * @property {string} [ref_group]
 * @property {Requirement} [requirement_level]
 * @property {string} [brief]
 * @property {unknown} [examples]
 * @property {Annotations} [annotations]
 *
 * @typedef {object} Signal a span, an event, a metric or a group of attributes
 * @property {string} [id]
 * @property {string} [type]
 * @property {string} [name]
 * @property {string} [visibility]
 * @property {string} [kind]
 * @property {string} [instrument]
 * @property {string} [unit]
 * @property {string} brief
 * @property {string} [note]
 * @property {Annotations} [annotations]
 * @property {Ref[]} [attributes]
 *
 * @typedef {object} Used an attribute as a signal has it
 * @property {string} key
 * @property {string} type
 * @property {string} requirement
 * @property {string} brief
 * @property {unknown[]} examples
 *
 * @typedef {object} Named a signal, resolved
 * @property {string} name as it is emitted
 * @property {Signal} definition
 * @property {Used[]} attributes
 *
 * @typedef {object} Registry
 * @property {Attribute[]} attributes those of this registry, in their order
 * @property {string[]} imported keys of OpenTelemetry's attributes that are referred to
 * @property {Named[]} spans
 * @property {Named[]} events
 * @property {Named[]} metrics
 * @property {Named[]} groups the public ones
 */

/** @returns {Record<string, any>[]} */
function definitions() {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml') && file !== MANIFEST)
    .map((file) => parse(readFileSync(join(FOLDER, file), 'utf8')));
}

/** @returns {Registry} */
function readRegistry() {
  const files = definitions();
  const all = (/** @type {string} */ section) => files.flatMap((file) => file[section] ?? []);
  /** @type {Attribute[]} */
  const attributes = all('attributes');
  const own = new Map(attributes.map((attribute) => [attribute.key, attribute]));
  /** @type {Map<string, Signal>} */
  const groups = new Map(all('attribute_groups').map((group) => [group.id, group]));
  const resolve = (/** @type {Signal} */ signal, /** @type {string} */ name) => {
    const attributes = refsOf(signal, groups).map((ref) => usedAs(ref, own));
    return { name, definition: signal, attributes };
  };
  const spans = all('spans').map((span) => resolve(span, text(span.name.note)));
  const events = all('events').map((event) => resolve(event, event.name));
  const metrics = all('metrics').map((metric) => resolve(metric, metric.name));
  const shown = [...groups.values()]
    .filter(({ visibility }) => visibility === 'public')
    .map((group) => resolve(group, /** @type {string} */ (group.id)));
  const used = [...spans, ...events, ...metrics, ...shown].flatMap((signal) => signal.attributes);
  const imported = new Set(used.map(({ key }) => key).filter((key) => !own.has(key)));
  return { attributes, imported: [...imported], spans, events, metrics, groups: shown };
}

/**
 * @param {Signal} signal
 * @param {Map<string, Signal>} groups
 * @returns {Ref[]}
 */
function refsOf({ attributes = [] }, groups) {
  return attributes.flatMap((ref) => {
    if (ref.ref_group === undefined) return [ref];
    const group = groups.get(ref.ref_group);
    if (!group) throw new Error(`no attribute group ${ref.ref_group}`);
    return refsOf(group, groups);
  });
}

/**
 * @param {Ref} ref
 * @param {Map<string, Attribute>} own
 * @returns {Used}
 */
function usedAs(ref, own) {
  const key = /** @type {string} */ (ref.ref);
  const definition = own.get(key);
  const brief = ref.brief ?? (definition && [definition.brief, definition.note ?? ''].join(' '));
  if (brief === undefined) throw new Error(`${key} is not defined here and has no brief`);
  return {
    key,
    type: definition ? typeOf(definition) : '',
    requirement: requirementOf(ref.requirement_level ?? 'recommended'),
    brief: text(brief),
    examples: [ref.examples ?? definition?.examples ?? []].flat(),
  };
}

/** @param {Attribute} attribute */
function typeOf({ type }) {
  return typeof type === 'string' ? type : 'string';
}

/** @param {Requirement} level */
function requirementOf(level) {
  if (typeof level === 'string') return level.replace('_', ' ');
  return Object.entries(level)
    .map(([name, condition]) => `${name.replace('_', ' ')}: ${text(condition)}`)
    .join();
}

/** Without the line ends of YAML. */
function text(/** @type {string} */ folded) {
  return folded.replace(/\s+/g, ' ').trim();
}

/** @param {Attribute} attribute */
function membersOf({ type }) {
  return typeof type === 'string' ? [] : type.members;
}

/** `event_loop.block.kind` → `EVENT_LOOP_BLOCK_KIND` */
function constantOf(/** @type {string} */ name) {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}

/**
 * Each exported constant of `src/semconv.ts`, in its order.
 * @param {Registry} registry
 * @returns {{ constant: string, value: string, comment: string }[]}
 */
function constantsOf({ attributes, imported, spans, events, metrics }) {
  return [
    ...spans.map(({ name, definition }) => ({
      constant: String(definition.annotations?.['code_generation']?.['constant']),
      value: name,
      comment: `Span name. ${firstSentence(definition.brief)}`,
    })),
    ...events.map(({ name, definition }) => ({
      constant: `EVENT_${constantOf(name)}`,
      value: name,
      comment: `Log event. ${firstSentence(definition.brief)}`,
    })),
    ...attributes.flatMap((attribute) => [
      {
        constant: `ATTR_${constantOf(attribute.key)}`,
        value: attribute.key,
        comment: firstSentence(attribute.brief),
      },
      ...membersOf(attribute).flatMap(({ value, brief, annotations }) => {
        const constant = annotations?.['code_generation']?.['constant'];
        if (typeof constant !== 'string') return [];
        const of = `Value of {@link ATTR_${constantOf(attribute.key)}}`;
        return [{ constant, value, comment: `${of}: ${lowerFirst(firstSentence(brief))}` }];
      }),
    ]),
    ...imported.map((key) => ({
      constant: `ATTR_${constantOf(key)}`,
      value: key,
      comment: '',
    })),
    ...metrics.map(({ name, definition: { instrument = '', unit, brief } }) => ({
      constant: `METRIC_${constantOf(name)}`,
      value: name,
      comment: `A ${instrument} in \`${unit}\`. ${firstSentence(brief)}`,
    })),
  ];
}

/** The reference has all of them. */
const firstSentence = (/** @type {string} */ brief) => String(text(brief).split(/(?<=\.) /, 1)[0]);
const lowerFirst = (/** @type {string} */ s) => s.charAt(0).toLowerCase() + s.slice(1);

/** A doc comment, on one line if it fits. */
function docComment(/** @type {string} */ comment) {
  const short = `/** ${comment} */`;
  if (short.length <= COLUMNS) return short;
  const lines = [' *'];
  for (const word of comment.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= COLUMNS) lines[lines.length - 1] = line;
    else lines.push(` * ${word}`);
  }
  return ['/**', ...lines, ' */'].join('\n');
}

const HEAD = `/**
 * Every span, event, attribute and metric name that this package emits, once. The names are a
 * contract: dashboards and alerts are written against them, so a change is a breaking change.
 * docs/reference.md says all of each. Those without a comment are OpenTelemetry's own.
 *
 * Made from \`semconv/*.yaml\` by \`npm run check -- semconv\`: change it there.
 */
`;

/** The text of `src/semconv.ts`. */
function semconvSource(/** @type {Registry} */ registry) {
  const exported = constantsOf(registry).map(({ constant, value, comment }) => {
    const line = `export const ${constant} = '${value}';`;
    return comment === '' ? `${line}\n` : `${docComment(comment)}\n${line}\n`;
  });
  return [HEAD, ...exported].join('\n');
}

module.exports = {
  readRegistry,
  constantsOf,
  membersOf,
  text,
  semconvSource,
};
