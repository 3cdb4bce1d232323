/**
 * The code of a block: which place it is named by. The place in the code that runs is known at
 * once; the one in the source, after the source maps of its files have been read. Another thread
 * reads whatever has to be read.
 */
import type { Block, StackFrame, WeightedSample } from '../block.ts';
import { passesOn } from '../name/continuation.ts';
import { describeCode, type SampledCode } from '../name/describe-code.ts';
import { isChunk, isNodeFile, type OriginOf } from '../name/in-app.ts';
import { packageOf } from '../name/packages.ts';
import { withoutReading } from '../name/reading.ts';
import {
  type GeneratedPosition,
  type SourcePosition,
  type SourcePositionList,
  withSourcePositions,
} from '../source-maps/position.ts';
import { toPath } from '../support/file-url.ts';
import type { Guard } from '../support/guard.ts';

type DescribedBlock = Pick<Block, 'samples' | 'start' | 'end'>;
type Described = (code: SampledCode, samples: readonly WeightedSample[]) => void;

export class CodeDescriber {
  constructor(
    private readonly options: {
      readonly originOf: OriginOf;
      readonly cwd: string;
      /** Milliseconds of garbage collection between two times; NaN if that is not known. */
      gcWithin(from: number, until: number): number;
      /**
       * Calls `done` once, at once or later, with one position for each. Never throws. Undefined if
       * positions stay those of the code that runs.
       */
      lookUp?:
        | ((
            positions: readonly GeneratedPosition[],
            done: (found: SourcePositionList) => void,
          ) => void)
        | undefined;
      /**
       * Has the code of calls and the `package.json` of folders read, and calls `done` as `lookUp`
       * does.
       */
      read?(
        calls: readonly GeneratedPosition[],
        folders: readonly string[],
        done: () => void,
      ): void;
    },
    private readonly guard: Guard,
  ) {}

  /** In the code that runs, with what is known of its files. Never throws. */
  describe(block: DescribedBlock): SampledCode {
    return this.#describe(block).code;
  }

  /** In the source, as far as there are source maps. Calls `done` once; never throws. */
  describeInSource(block: DescribedBlock, done: Described): void {
    const { lookUp } = this.options;
    const frames = framesOf(block.samples, (frame) => this.#isBuilt(frame));
    if (lookUp === undefined || frames.length === 0) {
      this.#describeWhenRead(block, done);
      return;
    }
    const positions = frames.flatMap((frame) => [positionOf(frame), beginOf(frame)]);
    lookUp(positions, (found) => {
      const inSource = new Map<string, StackFrame>();
      frames.forEach((frame, i) => {
        const position = found[2 * i];
        if (position === undefined) return;
        const { result } = withoutReading(() => passesOn(frame));
        const source = moved(frame, position, found[2 * i + 1]);
        inSource.set(frame.text, { ...source, passesOn: result });
      });
      const samples = block.samples.map((sample) => sampleInSource(sample, inSource));
      this.#describeWhenRead({ ...block, samples }, done);
    });
  }

  /** If files say something about the name that is not known, they are read first. */
  #describeWhenRead(block: DescribedBlock, done: Described): void {
    const { read } = this.options;
    const { code, isComplete } = this.#describe(block);
    if (isComplete || read === undefined) {
      done(code, block.samples);
      return;
    }
    const frames = framesOf(block.samples, ({ file }) => !isNodeFile(file));
    const calls = frames.filter((frame) => frame.passesOn === undefined).map(positionOf);
    const folders = new Set(frames.map(({ file }) => packageOf(file)).filter(Boolean));
    read(calls, [...folders], () => done(this.describe(block), block.samples));
  }

  #describe({ samples, start, end }: DescribedBlock) {
    const described = this.guard.run('cannot describe the code of a block', () =>
      withoutReading(() => describeCode(samples, start, end, this.options)),
    );
    const { result = { samples: samples.length }, isComplete = true } = described ?? {};
    return { code: result, isComplete };
  }

  /**
   * A package's code is in the files that its lines name. A built file is the application's, also
   * if it is named after a package: Next names the chunk of a page after its template.
   */
  #isBuilt({ file }: FrameInFile): boolean {
    return this.options.originOf(file) === 'app' || isChunk(file);
  }
}

/** One for each text: that has the function and the position. */
function framesOf(
  samples: readonly WeightedSample[],
  isWanted: (frame: FrameInFile) => boolean,
): FrameInFile[] {
  const byText = new Map<string, FrameInFile | undefined>();
  for (const { frames } of samples)
    for (const frame of frames)
      if (!byText.has(frame.text))
        byText.set(frame.text, isInFile(frame) && isWanted(frame) ? frame : undefined);
  return [...byText.values()].filter((frame) => frame !== undefined);
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

function sampleInSource(
  sample: WeightedSample,
  inSource: ReadonlyMap<string, StackFrame>,
): WeightedSample {
  return { ...sample, frames: sample.frames.map((frame) => inSource.get(frame.text) ?? frame) };
}
