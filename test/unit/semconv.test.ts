/**
 * `semconv/*.yaml` says what is emitted: what is made from it is up to date, the code emits no
 * other name, and emits each of them.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Attributes,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { BlockEvents } from '../../src/core/emit/block-event.ts';
import { BlockLink } from '../../src/core/emit/block-link.ts';
import { startBlockSpan } from '../../src/core/emit/block-span.ts';
import { createInstruments } from '../../src/core/emit/instruments.ts';
import type { UserHooks } from '../../src/core/emit/user-hooks.ts';
import * as semconv from '../../src/semconv.ts';
import { referenceSections, withSections } from '../../tools/reference.cjs';
import {
  constantsOf,
  membersOf,
  type Named,
  readRegistry,
  semconvSource,
} from '../../tools/semconv.cjs';
import { FakeClock } from './support/fake-clock.ts';
import { stackSample } from './support/stack-sample.ts';
import { WHOLE_BLOCK } from './support/whole-block.ts';

const ROOT = join(__dirname, '../..');
const SRC = join(ROOT, 'src');
/** Git on Windows may write CRLF. */
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n');

const registry = readRegistry();

/** The sources that emit: all but the names themselves, and what is made of these sources. */
const sources = new Map(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!semconv\.ts|.*\.generated\.ts).*\.ts$/.test(file))
    .map((file) => [`src/${file.replaceAll('\\', '/')}`, readFileSync(join(SRC, file), 'utf8')]),
);
const usersOf = (constant: string) =>
  [...sources]
    .filter(([, text]) => new RegExp(`\\b${constant}\\b`).test(text))
    .map(([file]) => file);

describe('what is made from it is up to date (npm run check -- semconv)', () => {
  test('src/semconv.ts', () => {
    expect(read('src/semconv.ts')).toBe(semconvSource(registry));
  });

  test('docs/reference.md', () => {
    const page = read('docs/reference.md');
    expect(page).toBe(withSections(page, referenceSections(registry)));
  });
});

describe('the registry', () => {
  const { attributes, spans, events, metrics, groups } = registry;

  test('names nothing twice', () => {
    const names = [
      attributes.map(({ key }) => key),
      ...[spans, events, metrics, groups].map((signals) => signals.map(({ name }) => name)),
      ...[...spans, ...events, ...metrics, ...groups].map((signal) =>
        signal.attributes.map(({ key }) => key),
      ),
      constantsOf(registry).map(({ constant }) => constant),
    ];
    for (const each of names) expect(each).toEqual([...new Set(each)]);
  });

  test.each(attributes.map((attribute) => [attribute.key, attribute] as const))(
    '%s has a type that is known, and examples if it is a string',
    (_, attribute) => {
      const { type, examples, brief, stability } = attribute;
      expect({ brief: brief.trim(), stability }).toEqual({
        brief: expect.stringMatching(/\.$/),
        stability: 'development',
      });
      if (typeof type !== 'string') {
        expect(membersOf(attribute).length).toBeGreaterThan(0);
        return;
      }
      expect(['string', 'int', 'double', 'boolean']).toContain(type);
      if (type === 'string') expect(examples).not.toHaveLength(0);
    },
  );

  test('refers to each of its attributes', () => {
    const used = new Set(
      [...spans, ...events, ...metrics, ...groups].flatMap((signal) =>
        signal.attributes.map(({ key }) => key),
      ),
    );
    expect(attributes.map(({ key }) => key).filter((key) => !used.has(key))).toEqual([]);
  });

  test.each([
    ['event_loop.block.kind', 'BlockKind'],
    ['event_loop.block.cause', 'BlockCause'],
    ['event_loop.suspension.reason', 'SuspensionReason'],
  ])('the values of %s are those of the type %s', (key, type) => {
    const [, union = ''] = read('src/types.ts').match(new RegExp(`type ${type} =([^;]+);`)) ?? [];
    const attribute = attributes.find((one) => one.key === key);
    expect([...union.matchAll(/'([^']+)'/g)].map(([, value]) => value)).toEqual(
      attribute && membersOf(attribute).map(({ value }) => value),
    );
  });
});

describe('the code and the registry', () => {
  const { attributes } = registry;

  test('every exported name is in it', () => {
    expect({ ...semconv }).toEqual(
      Object.fromEntries(constantsOf(registry).map(({ constant, value }) => [constant, value])),
    );
  });

  test('the registry names each field of a block once, and no other', () => {
    const fields = attributes.flatMap(({ annotations }) => annotations?.['docs']?.['field'] ?? []);
    expect(fields).toEqual([...new Set(fields)]);
    expect(fields.filter((field) => !Object.keys(WHOLE_BLOCK).includes(String(field)))).toEqual([]);
  });

  test('no name is written out in the sources but in comments', () => {
    const literals = [...sources].flatMap(([file, text]) =>
      [...text.matchAll(/'((?:event_loop|code|thread)\.[a-z_.]+)'/g)].map(
        ([, name]) => `${file}: ${name}`,
      ),
    );
    expect(literals).toEqual([]);
  });

  test('every exported name is emitted', () => {
    const exported = constantsOf(registry).map(({ constant }) => constant);
    expect(exported.filter((constant) => usersOf(constant).length === 0)).toEqual([]);
  });
});

const keysOf = ({ attributes }: Named) => attributes.map(({ key }) => key);
const one = (signals: Named[]) => signals[0] as Named;

/** What is not emitted here has a condition, which this block does not meet. */
function expectAttributes(signal: Named, emitted: string[]) {
  expect(emitted.filter((key) => !keysOf(signal).includes(key))).toEqual([]);
  const missing = signal.attributes.filter(({ key }) => !emitted.includes(key));
  expect(missing.filter(({ requirement }) => !/^conditionally/.test(requirement))).toEqual([]);
}

test('the span has the attributes of the registry', () => {
  const started: { name: string; options: SpanOptions }[] = [];
  const tracer = {
    startSpan: (name: string, options: SpanOptions) => {
      started.push({ name, options });
      return {} as Span;
    },
  } as unknown as Tracer;
  startBlockSpan(tracer, WHOLE_BLOCK, ROOT_CONTEXT, new FakeClock());
  const span = one(registry.spans);
  expect(started).toEqual([
    { name: span.name, options: expect.objectContaining({ kind: SpanKind.INTERNAL }) },
  ]);
  expect(span.definition.kind).toBe('internal');
  expectAttributes(span, Object.keys(started[0]?.options.attributes ?? {}));
});

test('the log event has the attributes of the registry', () => {
  const emitted: { eventName: string; attributes: Attributes }[] = [];
  const logger = { emit: (record: (typeof emitted)[number]) => emitted.push(record) };
  const hooks = { block: () => {} } as unknown as UserHooks;
  new BlockEvents('all', () => logger as never, hooks).emit({
    block: WHOLE_BLOCK,
    ended: {} as Block,
    context: ROOT_CONTEXT,
    samples: Array(9).fill({ ...stackSample(1, ROOT_CONTEXT, 'main'), weight: 1 }),
    span: Object.assign(new BlockLink(), { outcome: 'sampled' as const }),
  });
  const event = one(registry.events);
  expect(emitted.map(({ eventName }) => eventName)).toEqual([event.name]);
  expectAttributes(event, Object.keys(emitted[0]?.attributes ?? {}));
});

test('the metrics have the instruments, units and attributes of the registry', () => {
  const made: Record<string, { instrument: string; unit: string; attributes: string[] }> = {};
  const make = (instrument: string) => (name: string, options: { unit: string }) => {
    const attributes = new Set<string>();
    const record = (_: number, recorded: Attributes) => {
      for (const key of Object.keys(recorded)) attributes.add(key);
      made[name] = { instrument, unit: options.unit, attributes: [...attributes].sort() };
    };
    return { record, add: record };
  };
  const instruments = createInstruments({
    createHistogram: make('histogram'),
    createCounter: make('counter'),
  } as unknown as Meter);
  instruments.lag(1);
  const code = { ...WHOLE_BLOCK.code, functionName: '<anonymous>' };
  instruments.block({ ...WHOLE_BLOCK, code }, ROOT_CONTEXT);
  instruments.suppressed({ ...WHOLE_BLOCK, code }, ROOT_CONTEXT);
  instruments.stall(1);
  instruments.suspension(20, 'stopped');
  expect(Object.keys(made).length).toBeGreaterThanOrEqual(5);
  for (const [name, recorded] of Object.entries(made)) {
    const metric = registry.metrics.find((each) => each.name === name);
    expect(recorded).toEqual({
      instrument: metric?.definition.instrument,
      unit: metric?.definition.unit,
      attributes: metric && keysOf(metric).sort(),
    });
  }
});

test('the span processor has the attributes of the registry', () => {
  const attributes = registry.groups.flatMap(keysOf).sort();
  const used = constantsOf(registry)
    .filter(({ constant }) => constant.startsWith('ATTR_EVENT_LOOP_'))
    .filter(({ constant }) => usersOf(constant).some((file) => file.startsWith('src/core/stalls/')))
    .map(({ value }) => value);
  expect(used.sort()).toEqual(attributes);
});
