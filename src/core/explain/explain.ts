/**
 * What ran in a block, from what was recorded of it: the place that it is named by, in the source
 * where there are source maps. It reads files, and so runs in a thread.
 */
import type { StackFrame } from '../../block.ts';
import { toPath } from '../../support/file-url.ts';
import { passesOn } from './name/continuation.ts';
import { describeCode, type SampledCode } from './name/describe-code.ts';
import { isChunk, type Origin, type OriginOf } from './name/in-app.ts';
import { dependenciesOf, type PackageDependencies, packageOf } from './name/packages.ts';
import { gcWithin, type RecordedBlock } from './recorded.ts';
import {
  isOfFile,
  needsCompiler,
  transformedPositions,
  withoutLine,
} from './source-maps/loaded-text.ts';
import {
  type GeneratedPosition,
  type SourcePosition,
  type SourcePositionList,
  withSourcePositions,
} from './source-maps/position.ts';

export interface Explanation {
  readonly code: SampledCode;
  /** Frames with another place in the source, by their index. */
  readonly inSource: readonly (readonly [index: number, frame: StackFrame])[];
  /** For a recording: what packages depend on, by folder. Frames say whether they pass on then. */
  readonly packages?: readonly PackageDependencies[];
}

/** What only the main thread knows; undefined if there is nothing to ask for. */
export interface MainThread {
  /** Positions by the source maps that only a loader has, of code that it made. */
  readonly loader?:
    | ((positions: readonly GeneratedPosition[]) => Promise<SourcePositionList>)
    | undefined;
  /** Whose files are: a function as the option `inApp` is asked there. */
  readonly origins?: ((files: readonly string[]) => Promise<readonly Origin[]>) | undefined;
}

export interface ExplainOptions {
  readonly cwd: string;
  readonly originOf: OriginOf;
  /** Whether source maps are looked for; without them, code of a loader has no line. */
  readonly hasMaps: boolean;
  /** Files that are not opened. */
  readonly unsafe: ReadonlySet<string>;
  /** All that the name depends on is told, too. */
  readonly isRecorded: boolean;
  find(position: GeneratedPosition): SourcePosition | undefined;
}

export async function explain(
  { start, end, lackedCpu, frames, samples, collections }: RecordedBlock,
  options: ExplainOptions,
  main: MainThread,
): Promise<Explanation> {
  const originOf = await originsOf(frames, options.originOf, main);
  const inSource = await framesInSource(frames, originOf, options, main);
  const all = frames.map((frame, i) => inSource.get(i) ?? frame);
  const stacks = samples.map((sample) => ({
    ...sample,
    frames: sample.frames.map((i) => all[i] as StackFrame),
  }));
  const ofSource = await originsOf([...inSource.values()], originOf, main);
  const code = describeCode(stacks, start, end, {
    cwd: options.cwd,
    originOf: ofSource,
    gcWithin: gcWithin(collections),
    lackedCpuMillis: lackedCpu,
  });
  if (!options.isRecorded) return { code, inSource: [...inSource] };
  const folders = new Set(all.map(({ file = '' }) => packageOf(file)).filter(Boolean));
  const packages = [...folders].map((folder) => [folder, dependenciesOf(folder)] as const);
  const told = all.map((frame, i) => {
    return [i, { ...frame, passesOn: passesOn(inSource.get(i) ?? frame) }] as const;
  });
  return { code, inSource: told, packages };
}

/** Whose the files of frames are, which the main thread knows if the option is a function. */
async function originsOf(
  frames: readonly StackFrame[],
  originOf: OriginOf,
  { origins }: MainThread,
): Promise<OriginOf> {
  const files = [...new Set(frames.flatMap(({ file }) => file ?? []))];
  if (origins === undefined || files.length === 0) return originOf;
  const answers = await origins(files);
  const known = new Map(files.map((file, i) => [file, answers[i] as Origin]));
  return (file) => known.get(file) ?? originOf(file);
}

/**
 * A package's code is in the files that its lines name. A built file is the application's, also if
 * it is named after a package: Next names the chunk of a page after its template.
 */
async function framesInSource(
  frames: readonly StackFrame[],
  originOf: OriginOf,
  { hasMaps, unsafe, find }: ExplainOptions,
  main: MainThread,
): Promise<Map<number, StackFrame>> {
  const isBuilt = (file: string) => originOf(file) === 'app' || isChunk(file);
  const built = frames.flatMap((frame, index) =>
    isInFile(frame) && isOfFile(frame.file) && !unsafe.has(frame.file) && isBuilt(frame.file)
      ? [{ index, frame, positions: [positionOf(frame), beginOf(frame)] as const }]
      : [],
  );
  const ofLoader = await positionsOfLoader(
    built.flatMap(({ positions }) => positions),
    hasMaps,
    main,
  );
  const inSource = new Map<number, StackFrame>();
  for (const { index, frame, positions } of built) {
    const [place, begin] = positions.map(
      (each) => ofLoader.get(each) ?? (hasMaps ? find(each) : undefined),
    );
    if (place === undefined) continue;
    inSource.set(index, { ...moved(frame, place, begin), passesOn: passesOn(frame) });
  }
  return inSource;
}

/**
 * For positions in code that a loader made. Without a map, those of TypeScript and JSX have no
 * line; JavaScript keeps its own: it may only stand in a wrapper.
 */
async function positionsOfLoader(
  positions: readonly GeneratedPosition[],
  hasMaps: boolean,
  { loader }: MainThread,
): Promise<Map<GeneratedPosition, SourcePosition>> {
  const mayBeMade = loader === undefined ? needsCompiler : () => true;
  const made = [...transformedPositions(positions.filter(({ file }) => mayBeMade(file)))];
  const byLoader = hasMaps && loader !== undefined && made.length > 0 ? await loader(made) : [];
  const found = new Map<GeneratedPosition, SourcePosition>();
  made.forEach((position, i) => {
    const other = !hasMaps || needsCompiler(position.file) ? withoutLine(position) : undefined;
    const source = byLoader[i] ?? other;
    if (source !== undefined) found.set(position, source);
  });
  return found;
}

type FrameInFile = StackFrame & { readonly file: string; readonly line: number };

function isInFile(frame: StackFrame): frame is FrameInFile {
  return frame.file !== undefined && frame.line !== undefined && !frame.isOwn;
}

function positionOf(frame: FrameInFile): GeneratedPosition {
  const { file, line, column = 1, offset, functionName, functionLine, functionColumn } = frame;
  return { file, line, column, offset, functionName, functionLine, functionColumn };
}

function beginOf({ file, line, functionLine = line, functionColumn = 1 }: FrameInFile) {
  return { file, line: functionLine, column: functionColumn };
}

function moved(
  frame: StackFrame,
  position: SourcePosition,
  begin: SourcePosition | undefined,
): StackFrame {
  const { file, line, column, functionName = frame.functionName } = position;
  const isSameFile = begin?.file === file;
  return {
    ...frame,
    functionName,
    file,
    line,
    column,
    builtFile: toPath(frame.file ?? file),
    functionLine: isSameFile ? begin.line : frame.functionLine,
    functionColumn: isSameFile ? begin.column : frame.functionColumn,
    text: withSourcePositions(frame.text, [position]),
  };
}
