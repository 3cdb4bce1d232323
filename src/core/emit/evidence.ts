/**
 * A block with everything that it was explained from, as a plain value: `BlockMessage.evidence()`,
 * and so one line of JSON in the file of the option `recordFile`. Times are milliseconds since the
 * start of the block. Files, packages and frames are tables, to which the other parts refer by
 * index.
 */
import asyncHooks from 'node:async_hooks';
import { isSpanContextValid, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { StackFrame } from '../../block.ts';
import type { EvidenceOptions } from '../../channels.ts';
import { madeByIn } from '../../otel/context-marks.ts';
import type { CodePlace } from '../../types.ts';
import { MAX_FREEING_MILLIS } from '../explain/name/cause.ts';
import { passesOn } from '../explain/name/continuation.ts';
import {
  isNodeFile,
  isWasmFile,
  type OriginOf,
  type OriginOptions,
} from '../explain/name/in-app.ts';
import { dependsOn, packageOf } from '../explain/name/packages.ts';
import { builtIns } from '../record/native/built-ins.ts';
import type { BlockReport } from './emitter.ts';

export type Evidence = ReturnType<typeof toEvidence>;

/** What the session knows beside the block. */
export interface BlockSources extends OriginOptions {
  /** Start and end of each garbage collection between two times of the clock. */
  collections(from: number, until: number): readonly (readonly [number, number])[] | undefined;
}

export function toEvidence(
  report: BlockReport,
  originOf: OriginOf,
  sources: BlockSources,
  { names: hasNames = true, every = 1 }: EvidenceOptions = {},
) {
  const { ended, block, context, span } = report;
  const { inApp, cwd = '', mainFile } = sources;
  const names = hasNames ? REAL_NAMES : createPseudonyms();
  const since = (time: number) => round(time - ended.start);
  const files = new Table<string>();
  const frames = new Table<StackFrame>();
  const sampled = report.samples.filter((_, i) => i % every === every - 1);
  const samples = sampled.map((sample) => ({
    requestedAt: Number.isNaN(sample.requestedAt) ? undefined : since(sample.requestedAt),
    time: since(sample.time),
    span: idsOf(trace.getSpanContext(sample.context)),
    resourceType: sample.resourceType && names.resourceType(sample.resourceType),
    nativeCall: sample.nativeCall && {
      ...sample.nativeCall,
      name: names.nativeCall(sample.nativeCall.name),
    },
    frames: sample.frames.map((frame) =>
      frames.indexOf(frame, `${frame.isAsync}${frame.isAtEntry}${frame.text}`),
    ),
  }));
  const frameRows = frames.rows.map(({ offset: _, builtFile: __, ...frame }) => ({
    ...frame,
    functionName: frame.functionName && names.name(frame.functionName),
    file: frame.file === undefined ? undefined : files.indexOf(frame.file),
    text: isTextRead(frame) ? names.text(frame.text) : undefined,
    passesOn: frame.file !== undefined && !isNodeFile(frame.file) && passesOn(frame),
  }));
  const folders = [...new Set(files.rows.map(packageOf))].filter((folder) => folder !== '');
  const placeOf = ({ functionName, file, line }: CodePlace) => ({
    functionName: names.name(functionName),
    file: file && names.file(file),
    line,
  });
  const ofPaths = hasNames && typeof inApp !== 'function';
  return {
    version: 1,
    node: process.version,
    cwd: names.file(cwd),
    mainFile: ofPaths ? mainFile : undefined,
    inApp: ofPaths ? inApp : undefined,
    startTimeMillis: block.startTimeMillis,
    durationMillis: since(ended.end),
    kind: ended.kind,
    callbacks: ended.callbacks,
    resourceType: ended.resourceType && names.resourceType(ended.resourceType),
    cpu: ended.cpu,
    lackedCpu: ended.lackedCpu,
    waitedSince: ended.waitedSince,
    /** The parent is decided by these. */
    ran: ended.ran?.map((run) => ({
      span: idsOf(trace.getSpanContext(run.context)),
      millis: round(run.millis),
    })),
    collections: sources
      .collections(ended.start - MAX_FREEING_MILLIS, ended.end)
      ?.map(([from, until]) => [since(from), since(until)] as const),
    files: files.rows.map(names.file),
    /** Whose each file is, if paths do not tell: without names, or by a function as `inApp`. */
    origins: ofPaths ? undefined : files.rows.map(originOf),
    packages: folders.map((folder) => ({
      folder: names.file(folder),
      /** Absent if that is not known. */
      dependsOn:
        dependsOn(folder, folder) === undefined
          ? undefined
          : folders.flatMap((other, i) => (dependsOn(folder, other) === true ? [i] : [])),
    })),
    frames: frameRows,
    samples,
    said: {
      code: block.code && placeOf(block.code),
      leaf: block.leaf && placeOf(block.leaf),
      cause: block.cause,
      parent: idsOf(trace.getSpanContext(context)),
      link: idsOf(trace.getSpanContext(madeByIn(context) ?? ROOT_CONTEXT)),
      span: span.outcome,
    },
  };
}

class Table<Row> {
  readonly rows: Row[] = [];
  readonly #indexes = new Map<unknown, number>();

  indexOf(row: Row, key: unknown = row): number {
    const known = this.#indexes.get(key) ?? this.rows.push(row) - 1;
    this.#indexes.set(key, known);
    return known;
  }
}

/** Elsewhere it follows from the other fields. */
const isTextRead = ({ file, text }: Pick<StackFrame, 'file' | 'text'>) =>
  text.startsWith('Module._compile') || text.startsWith('... ') || isWasmFile(file ?? '');

const idsOf = (span: ReturnType<typeof trace.getSpanContext>) =>
  span && isSpanContextValid(span) ? `${span.traceId}-${span.spanId}` : undefined;

const round = (millis: number) => Math.round(millis * 1000) / 1000;

const same = (text: string) => text;
const REAL_NAMES = { name: same, file: same, text: same, resourceType: same, nativeCall: same };

/** What says whose a file is, and nothing of the application. */
const KEPT = new Set(['', '/', '\\', 'file:', 'wasm:', 'wasm', 'node_modules']);

/** Those of Node.js' own code in JavaScript, and of its own in C++; an application makes others. */
const RESOURCE_TYPES = new Set([
  ...['Timeout', 'Immediate', 'TickObject', 'Microtask'],
  ...Object.keys(asyncHooks.asyncWrapProviders ?? {}),
]);

/** Any other is a function of an add-on, named by its file. */
const isBuiltIn = (call: string) =>
  call.startsWith('node:') || builtIns().some(({ name }) => name === call);

/** `n1`, `n2`: the same one for the same name. */
function createPseudonyms(): typeof REAL_NAMES {
  const known = new Map<string, string>();
  const name = (real: string): string => {
    const pseudonym = known.get(real) ?? `${real.startsWith('@') ? '@' : ''}n${known.size + 1}`;
    known.set(real, pseudonym);
    return pseudonym;
  };
  const part = (real: string) => (KEPT.has(real) ? real : name(real));
  return {
    name,
    file: (file) =>
      isNodeFile(file)
        ? file
        : file
            .split(/([/\\])/)
            .map(part)
            .join(''),
    resourceType: (type) => (RESOURCE_TYPES.has(type) ? type : name(type)),
    nativeCall: (call) => (isBuiltIn(call) ? call : name(call)),
    text: (text) => /^(?:Module\._compile|\.\.\. \d+ more)/.exec(text)?.[0] ?? '',
  };
}
