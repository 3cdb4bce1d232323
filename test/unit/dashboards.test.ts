// Rules, alerts and dashboard are written against the names in src/semconv.ts and the buckets in
// src/core/emit/instruments.ts. Renaming one of them without the others would leave alerts that
// never fire.
import type { Meter, MetricOptions } from '@opentelemetry/api';
import { createInstruments } from '../../src/core/emit/instruments.ts';
import * as semconv from '../../src/semconv.ts';
import { repositoryOf } from '../../tools/repository.cjs';
import { anchors, read } from './support/markdown.ts';

const FILES = [
  'deploy/prometheus/rules.yaml',
  'deploy/prometheus/rules.test.yaml',
  'deploy/grafana/dashboards/event-loop.json',
  'deploy/grafana/provisioning/alerting/event-loop.yaml',
  'deploy/grafana/provisioning/datasources/datasources.yaml',
  'docs/operations.md',
  'deploy/prometheus/README.md',
];

interface Instrument {
  kind: 'histogram' | 'counter';
  name: string;
  options: MetricOptions;
}

function instruments(): Instrument[] {
  const made: Instrument[] = [];
  const make = (kind: Instrument['kind']) => (name: string, options: MetricOptions) => {
    made.push({ kind, name, options });
    return {};
  };
  createInstruments({
    createHistogram: make('histogram'),
    createCounter: make('counter'),
  } as unknown as Meter);
  return made;
}

/** As Prometheus 3 names what it receives by OTLP: dots become underscores, then unit and type. */
function prometheusNames({ kind, name, options }: Instrument): string[] {
  const underscored = name.replaceAll('.', '_');
  // A unit in braces is none.
  const isCount = options.unit?.startsWith('{') === true;
  if (!isCount) expect(options.unit).toBe('s');
  const measured = isCount ? underscored : `${underscored}_seconds`;
  if (kind === 'counter') return [`${measured}_total`];
  return ['_bucket', '_sum', '_count'].map((part) => `${measured}${part}`);
}

const PROMETHEUS_NAMES = new Set([
  ...instruments().flatMap(prometheusNames),
  // The Collector counts the spans that have this attribute.
  `${semconv.ATTR_EVENT_LOOP_BLOCK_UNFINISHED.replaceAll('.', '_')}_total`,
]);

/** Names of recording rules have colons; those of others do not. */
const RECORDED_NAMES = new Set(
  [...read('deploy/prometheus/rules.yaml').matchAll(/- record: (\S+)/g)].map(
    ([, name]) => name as string,
  ),
);

const LABELS = [
  semconv.ATTR_EVENT_LOOP_BLOCK_KIND,
  semconv.ATTR_EVENT_LOOP_SUSPENSION_REASON,
  semconv.ATTR_CODE_FUNCTION_NAME,
].map((name) => name.replaceAll('.', '_'));

describe.each(FILES)('%s', (path) => {
  const text = read(path);

  test('asks for no metric that does not exist', () => {
    const named = text.match(/(?<![\w:.-])event_loop_\w+_(bucket|sum|count|total)(?![\w:])/g) ?? [];
    const recorded = text.match(/(?<![\w:])\w+:event_loop_\w+:\w+/g) ?? [];
    expect(named.length + recorded.length).toBeGreaterThan(0);
    expect(named.filter((name) => !PROMETHEUS_NAMES.has(name))).toEqual([]);
    expect(recorded.filter((name) => !RECORDED_NAMES.has(name))).toEqual([]);
  });

  test('asks for no attribute that does not exist', () => {
    const known = new Set<string>(Object.values(semconv));
    const named = [
      ...text.matchAll(/(?<![\w.-])(?:span\.)?((?:event_loop|code)\.[a-z_.]*[a-z])(?![\w-])/g),
    ]
      .map(([, name]) => name as string)
      .filter((name) => !/\.(md|ts|mjs|json|yaml)$/.test(name));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

test.each(['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboards/event-loop.json'])(
  '%s groups by the labels there are',
  (path) => {
    const text = read(path);
    const named =
      text.match(/\b(event_loop_block_kind|event_loop_suspension_r\w+|code_function_\w+)\b/g) ?? [];
    expect([...new Set(named)].filter((name) => !LABELS.includes(name))).toEqual([]);
  },
);

test.each(['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboards/event-loop.json'])(
  '%s names buckets that there are',
  (path) => {
    const boundaries = new Map(
      instruments().map(({ name, options }) => [
        `${name.replaceAll('.', '_')}_seconds_bucket`,
        options.advice?.explicitBucketBoundaries ?? [],
      ]),
    );
    const asked = [...read(path).matchAll(/(\w+_bucket)\{[^}]*le=~?\\?"([\d.]+)/g)];
    expect(asked.length).toBeGreaterThan(0);
    for (const [, metric, le] of asked)
      expect(boundaries.get(metric as string)).toContain(Number(le));
  },
);

test('blocks that expectBlock marks are in no alert and in no panel', () => {
  const files = ['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboards/event-loop.json'];
  const queries = files.flatMap((file) =>
    [...read(file).matchAll(/event_loop_block_duration_seconds_\w+(?![\w:])(?:\{([^}]*)\})?/g)]
      .filter(([, matchers]) => !matchers?.includes('event_loop_block_expected='))
      .map(([query]) => `${file}: ${query}`),
  );
  expect(queries).toEqual([]);
});

test('every alert has a chapter in deploy/prometheus/README.md, and every chapter an alert', () => {
  const alerts = [...read('deploy/prometheus/rules.yaml').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name as string,
  );
  const urls = [...read('deploy/prometheus/rules.yaml').matchAll(/runbook_url: (\S+)/g)].map(
    ([, url]) => url as string,
  );
  const runbooks = read('deploy/prometheus/README.md');

  const repository = repositoryOf(JSON.parse(read('package.json')));
  const base = `${repository}/blob/main/deploy/prometheus/README.md`;
  expect(urls).toEqual(alerts.map((name) => `${base}#${name.toLowerCase()}`));
  for (const name of alerts)
    expect(anchors('deploy/prometheus/README.md')).toContain(name.toLowerCase());
  const chapters = [...runbooks.matchAll(/^## (EventLoop\w+)$/gm)].map(([, name]) => name);
  expect(chapters).toEqual(alerts);
});
