/** The stacks of blocks: read from the report, arranged for the flame graph, and saved as files. */
import { cpuProfileOf } from '../src/core/explain/name/cpu-profile.ts';
import type { ReportDocument } from '../src/outputs/html-report/document.ts';
import type { SampledFrame } from '../src/types.ts';
import type { Block } from './model.ts';

export interface Frame extends SampledFrame {
  /** The same for all lines of a function. */
  readonly key: string;
  readonly origin: 'app' | 'package' | 'native';
  /** It stands for frames of packages and Node.js. */
  readonly isFolded?: boolean;
}

export interface Stack {
  /** Outermost first. */
  readonly frames: readonly Frame[];
  readonly millis: number;
}

/** Shorter runs of frames of packages and Node.js are not folded. */
const MIN_FOLDED = 10;
/** Frames of a run that ends a stack stay: they are what ran. */
const INNERMOST_SHOWN = 8;

/** Those of some blocks, each once, the longest first. */
export function stacksOf(
  { frames, files, nodes }: ReportDocument['stacks'],
  blocks: readonly Pick<Block, 'stacks'>[],
): Stack[] {
  const millisOf = new Map<number, number>();
  for (const { stacks } of blocks)
    for (let i = 0; i < stacks.length; i += 2) {
      const node = stacks[i] as number;
      millisOf.set(node, (millisOf.get(node) ?? 0) + (stacks[i + 1] as number));
    }
  const known: Frame[] = [];
  const frameOf = (id: number): Frame => {
    const [name, at, line, functionLine] = frames[id] ?? ['', -1, 0, 0];
    const file = files[at] ?? '';
    const key = `${name}\n${file}\n${functionLine || line}`;
    known[id] ??= { key, name, file, line, functionLine, origin: originOf(file) };
    return known[id];
  };
  return [...millisOf]
    .sort(([, a], [, b]) => b - a)
    .map(([innermost, millis]) => {
      const stack: Frame[] = [];
      for (let node = innermost; node >= 0; node = nodes[2 * node] as number)
        stack.push(frameOf(nodes[2 * node + 1] as number));
      return { frames: stack.reverse(), millis };
    });
}

/** Long runs of frames of packages and Node.js as one frame each. */
export function folded({ frames, millis }: Stack): Stack {
  const result: Frame[] = [];
  let run: Frame[] = [];
  const endRun = (shown: number) => {
    const hidden = run.length - shown;
    if (hidden >= MIN_FOLDED) {
      const names = [...new Set(run.slice(0, hidden).flatMap(({ file }) => packageOf(file) ?? []))];
      const name = `${hidden} frames of ${names.slice(0, 4).join(', ') || 'Node.js'}`;
      const none = { file: '', line: 0, functionLine: 0, origin: 'package' } as const;
      result.push({ ...none, key: 'folded', name, isFolded: true }, ...run.slice(hidden));
    } else result.push(...run);
    run = [];
  };
  for (const frame of frames) {
    if (frame.origin !== 'app') run.push(frame);
    else {
      endRun(0);
      result.push(frame);
    }
  }
  endRun(INNERMOST_SHOWN);
  return { frames: result, millis };
}

/**
 * What called a function, the nearest first, and for how long; of what ran innermost if the key is
 * that of no function.
 */
export function callers(stacks: readonly Stack[], key: string): Stack[] {
  return stacks.flatMap(({ frames, millis }) => {
    const at = key === '' ? frames.length - 1 : frames.findLastIndex((each) => each.key === key);
    return at === -1 ? [] : [{ frames: frames.slice(0, at + 1).reverse(), millis }];
  });
}

const packageOf = (file: string) =>
  /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1];

function originOf(file: string): Frame['origin'] {
  if (file === '' || file.startsWith('node:')) return 'native';
  return file.includes('node_modules') ? 'package' : 'app';
}

/** For Chrome DevTools and VS Code: the stacks one after the other. */
export function cpuProfile(stacks: readonly Stack[], startMillis: number): string {
  const innermostFirst = stacks.map(({ frames, millis }) => ({
    frames: frames.toReversed(),
    millis,
  }));
  return JSON.stringify(cpuProfileOf(innermostFirst, startMillis, 0));
}
