/**
 * The code of a block: which place it is named by. The place in the code that runs is known at
 * once; the one in the source, after the source maps of its files have been read.
 */
import type { Block, StackFrame, StackSample, WeightedSample } from '../block.ts';
import { passesOn } from '../name/continuation.ts';
import { describeCode, type SampledCode } from '../name/describe-code.ts';
import { isChunk, type OriginOf } from '../name/in-app.ts';
import {
  type GeneratedPosition,
  type SourcePosition,
  type SourcePositionList,
  withSourcePositions,
} from '../source-maps/position.ts';
import { toPath } from '../support/file-url.ts';
import type { Guard } from '../support/guard.ts';

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
    },
    private readonly guard: Guard,
  ) {}

  /** In the code that runs. Never throws: a block whose code cannot be described has none. */
  describe({ samples, start, end }: Pick<Block, 'samples' | 'start' | 'end'>): SampledCode {
    const code = this.guard.run('cannot describe the code of a block', () =>
      describeCode(samples, start, end, this.options),
    );
    return code ?? { samples: samples.length };
  }

  /** In the source, as far as there are source maps. Calls `done` once; never throws. */
  describeInSource(
    block: Pick<Block, 'samples' | 'start' | 'end'>,
    done: (code: SampledCode, samples: readonly WeightedSample[]) => void,
  ): void {
    const { lookUp } = this.options;
    const frames = new Set(block.samples.flatMap((sample) => this.#builtFrames(sample)));
    if (lookUp === undefined || frames.size === 0) {
      done(this.describe(block), block.samples);
      return;
    }
    const positions = [...frames].flatMap((frame) => [positionOf(frame), beginOf(frame)]);
    lookUp(positions, (found) => {
      const inSource = new Map<StackFrame, StackFrame>();
      [...frames].forEach((frame, i) => {
        const position = found[2 * i];
        if (position === undefined) return;
        const source = moved(frame, position, found[2 * i + 1]);
        inSource.set(frame, { ...source, passesOn: passesOn(frame) });
      });
      const samples = block.samples.map((sample) => sampleInSource(sample, inSource));
      done(this.describe({ ...block, samples }), samples);
    });
  }

  /**
   * A package's code is in the files that its lines name. A built file is the application's, also
   * if it is named after a package: Next names the chunk of a page after its template.
   */
  #builtFrames({ frames }: StackSample): FrameInFile[] {
    const { originOf } = this.options;
    return frames.filter(isInFile).filter(({ file }) => originOf(file) === 'app' || isChunk(file));
  }
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
  inSource: ReadonlyMap<StackFrame, StackFrame>,
): WeightedSample {
  return { ...sample, frames: sample.frames.map((frame) => inSource.get(frame) ?? frame) };
}
