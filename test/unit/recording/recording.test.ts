/** A recording: what it has of a block, and that the rules say the same of it as of the block. */
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import type { Block, StackFrame, WeightedSample } from '../../../src/block.ts';
import { BlockLink } from '../../../src/core/emit/block-link.ts';
import type { BlockReport } from '../../../src/core/emit/emitter.ts';
import {
  type BlockSources,
  type Evidence as Recording,
  toEvidence,
} from '../../../src/core/emit/evidence.ts';
import { describeCode } from '../../../src/core/explain/name/describe-code.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { lineOf as lineOfMessage } from '../../../src/outputs/recording/recording.ts';
import { stackFrame } from '../support/stack-sample.ts';
import { explain, outcomeOf } from './explain.ts';

const SPAN = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
const OPTIONS: BlockSources & { hasNames: boolean } = {
  cwd: '/app',
  hasNames: true,
  collections: () => [[1990, 2010]],
};

/** Of the application, of packages and of Node.js, with and without a name. */
const FRAMES: StackFrame[] = [
  stackFrame('render', 7),
  stackFrame('report', 9),
  stackFrame('parse', 3, { file: '/app/node_modules/acme/index.js' }),
  stackFrame('handle', 5, { file: '/app/node_modules/express/lib/router.js', isAsync: true }),
  stackFrame('emit', 5, { file: 'node:events', text: 'Secret.emit (node:events:5:1)' }),
  {
    ...stackFrame('Array.map', 1, { isBuiltin: true, text: 'Array.map (<anonymous>)' }),
    file: undefined as never,
  },
];

const samples: fc.Arbitrary<WeightedSample[]> = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 149 }),
      late: fc.constantFrom(0, 0, 30),
      frames: fc.array(fc.constantFrom(...FRAMES), { maxLength: 6 }),
    }),
    { maxLength: 8 },
  )
  .map((all) =>
    all.map(({ at, late, frames }) => ({
      requestedAt: 2000 + at - late,
      time: 2000 + at,
      context: ROOT_CONTEXT,
      resourceType: 'Timeout',
      frames,
      weight: 1,
    })),
  );

function reportOf(taken: readonly WeightedSample[], options = OPTIONS): BlockReport {
  const ended: Block = {
    kind: 'callback',
    start: 2000,
    end: 2150,
    callbacks: 1,
    context: ROOT_CONTEXT,
    resourceType: 'Timeout',
    cpu: 140,
    samples: taken,
    ran: [{ context: trace.setSpanContext(ROOT_CONTEXT, SPAN), millis: 120 }],
    isOwnWork: false,
  };
  const { topFunctions, ...code } = describeCode(taken, 2000, 2150, {
    originOf: createOriginOf(options),
    cwd: '/app',
  });
  return {
    ended,
    block: { startTimeMillis: 1, durationMillis: 150, callbacks: 1, ...code },
    context: trace.setSpanContext(ROOT_CONTEXT, SPAN),
    samples: taken,
    span: Object.assign(new BlockLink(), { outcome: 'sampled' as const }),
  };
}

function lineOf(report: BlockReport, options = OPTIONS, max?: number): string {
  const originOf = createOriginOf(options);
  const message = {
    block: report.block,
    evidence: (given: object) => toEvidence(report, originOf, options, given),
  };
  return lineOfMessage(message, options.hasNames, max);
}

const record = (report: BlockReport, options = OPTIONS): Recording =>
  JSON.parse(lineOf(report, options));
const withoutCause = (said: Recording['said'], recording: Recording) =>
  outcomeOf({ ...said, cause: undefined }, recording);

test.each([true, false])('the same is said of it as of the block; with names: %s', (hasNames) => {
  fc.assert(
    fc.property(samples, (taken) => {
      const recording = record(reportOf(taken), { ...OPTIONS, hasNames });
      const now = explain(recording) as unknown as Recording['said'];
      if (hasNames || now.code?.functionName !== '<anonymous>')
        expect(withoutCause(now, recording)).toBe(withoutCause(recording.said, recording));
    }),
  );
});

test('spans, times and what ran are in it', () => {
  const recording = record(reportOf([]));
  const span = `${SPAN.traceId}-${SPAN.spanId}`;
  expect(recording).toMatchObject({
    durationMillis: 150,
    cpu: 140,
    ran: [{ span, millis: 120 }],
    collections: [[-10, 10]],
    said: { parent: span, span: 'sampled' },
  });
});

test('without names it has none', () => {
  const [first] = fc.sample(
    samples.filter((taken) => taken.length > 3),
    1,
  );
  const all = [{ ...(first?.[0] as WeightedSample), frames: FRAMES }, ...(first ?? [])];
  const line = lineOf(reportOf(all), { ...OPTIONS, mainFile: '/app/main.js', hasNames: false });
  expect(line).not.toMatch(/render|report|parse|acme|main|Secret|handle|\/app/);
});

test('nor the type of a resource of its own, nor the file and function of its add-on', () => {
  const taken = ['AcmeImport', 'Timeout', 'HTTPINCOMINGMESSAGE'].flatMap((resourceType) =>
    ['acme.merge', 'fs.readFileSync'].map((name) => ({
      requestedAt: 2010,
      time: 2010,
      context: ROOT_CONTEXT,
      resourceType,
      nativeCall: { name, size: 7 },
      frames: [],
      weight: 10,
    })),
  );
  const report = reportOf(taken);
  const ofAcme = { ...report, ended: { ...report.ended, resourceType: 'AcmeImport' } };
  expect(lineOf(ofAcme, OPTIONS)).toMatch(/acme\.merge.*AcmeImport|AcmeImport.*acme\.merge/);
  const recording = record(ofAcme, { ...OPTIONS, hasNames: false });
  expect(JSON.stringify(recording)).not.toMatch(/acme/i);
  expect(recording.samples.map((sample) => sample.resourceType)).toEqual(
    ['n', 'n', 'Timeout', 'Timeout', 'HTTPINCOMINGMESSAGE', 'HTTPINCOMINGMESSAGE'].map((type) =>
      type === 'n' ? recording.resourceType : type,
    ),
  );
  expect(recording.samples[1]?.nativeCall).toEqual({ name: 'fs.readFileSync', size: 7 });
});

test('a function as inApp is not needed again', () => {
  const options = { ...OPTIONS, inApp: (file: string) => file.includes('acme') };
  const sample = (frames: StackFrame[]) => ({
    requestedAt: 2010,
    time: 2010,
    context: ROOT_CONTEXT,
    resourceType: undefined,
    frames,
    weight: 150,
  });
  const report = reportOf([sample([FRAMES[2], FRAMES[1]] as StackFrame[])], options);
  expect(explain(record(report, options)).code?.functionName).toBe('parse');
});

test('a line that is too long has fewer stack samples', () => {
  const [taken] = fc.sample(
    samples.filter((each) => each.length > 0),
    1,
  );
  const many = Array(1000).fill({ ...taken?.[0], frames: FRAMES, requestedAt: 2001, time: 2001 });
  const line = lineOf(reportOf(many), OPTIONS, 20_000);
  expect(line.length).toBeLessThan(20_000);
  expect(JSON.parse(line).samples.length).toBeGreaterThan(50);
});
