/** The stacks of blocks: read from the report, arranged for the flame graph, and saved as files. */
import { cpuProfileOf } from '../src/core/explain/name/cpu-profile.ts';
import type { ReportDocument } from '../src/outputs/html-report/document.ts';
import type { SampledFrame } from '../src/types.ts';
import type { Block } from './model.ts';

export interface Frame extends SampledFrame {
  /** The same for all lines of a function. */
  readonly key: string;
  readonly origin: 'app' | 'package' | 'native';
}

export interface Stack {
  /** Outermost first. */
  readonly frames: readonly Frame[];
  readonly millis: number;
}

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
