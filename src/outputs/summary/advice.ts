/** What to change, in one sentence: for the report page, JSON, and `docs/agents.md`. */
import { duration, percent } from '../../support/numbers.ts';
import type { EventLoopBlock } from '../../types.ts';

/** The facts that a block and the block of a page have in common. */
interface Facts extends Pick<EventLoopBlock, 'cause' | 'kind' | 'topFunctions' | 'requests'> {
  readonly nativeCall?: { readonly name: string };
  readonly leaf?: { readonly file?: string } | undefined;
  readonly code?: { readonly file?: string } | undefined;
}

export const ADVICE = {
  requires: 'Load this module at the start, before requests come.',
  stringify: 'Send less, or in parts: as pages, or as a stream of rows.',
  parse: 'Parse it in a worker thread, stream it, or ask for less.',
  regExp: 'Change the regular expression so that it does not backtrack, or limit its input.',
  fork: 'Starting a process takes longer the larger this one is: start fewer, or from a small one.',
  clone: 'Copy less at once, or in parts: a worker thread would need a copy, too.',
  wait: 'It waits for another thread: wait for a message instead, or in a worker thread.',
  sync: 'Use its asynchronous form, give it less input, or call it in a worker thread.',
  native: 'Give it less input, or call it in a worker thread.',
  waiting: 'It waits and does nothing: use the asynchronous form.',
  message:
    'A worker thread or child process sends too much: send less, in parts, or transfer buffers.',
  gc: 'It is garbage collection: make fewer objects at once, in pages or streams.',
  many: 'No function is most of it: let fewer requests run at once, or do less in each.',
  requests: 'They come together: let fewer run at once, or do less in each.',
  leaf: 'A library does the work: call it less, keep what it returns, or use a worker thread.',
  pileUp: 'Many short callbacks come together: start fewer at once.',
  javascript: 'Do less at once, return to the event loop in between, or use a worker thread.',
};

/** Functions of Node.js that have an asynchronous form, beside those named `…Sync`. */
const ASYNCHRONOUS = /Sync$|^crypto\.(?:randomBytes|sign|verify)$|^WebAssembly\.Module$/;

function adviceOnNative(name: string): string {
  if (name === 'JSON.stringify') return ADVICE.stringify;
  if (name === 'JSON.parse') return ADVICE.parse;
  if (/^(RegExp|String)#(?!normalize)/.test(name)) return ADVICE.regExp;
  if (name === 'child_process.spawn') return ADVICE.fork;
  if (name === 'structuredClone') return ADVICE.clone;
  if (name === 'Atomics.wait') return ADVICE.wait;
  return ASYNCHRONOUS.test(name) ? ADVICE.sync : ADVICE.native;
}

/**
 * @param requires the module that it was loading
 * @param isStartUp no server listened yet: to load modules is what this time is for
 * @returns undefined if nothing is known of it
 */
export function adviceOf(
  { cause, kind, nativeCall, leaf, code, topFunctions, requests }: Facts,
  requires?: string,
  isStartUp = false,
): string | undefined {
  if (requires !== undefined) return isStartUp ? undefined : ADVICE.requires;
  if (nativeCall !== undefined) return adviceOnNative(nativeCall.name);
  // Without code it may as well have waited for a CPU.
  if (cause === 'waiting') return code && ADVICE.waiting;
  if (cause === 'message') return ADVICE.message;
  if (cause === 'gc') return ADVICE.gc;
  if (code === undefined && requests !== undefined) return ADVICE.requests;
  const share = topFunctions?.[0]?.share;
  if (code === undefined && share === undefined) return undefined;
  if (code === undefined && share !== undefined && share <= 0.5) return ADVICE.many;
  const isOne = share !== undefined && share >= 0.9;
  if (kind === 'pile-up' && !isOne) return ADVICE.pileUp;
  return (leaf ?? code)?.file?.includes('node_modules') ? ADVICE.leaf : ADVICE.javascript;
}

/** Of the elapsed time: from here on, a wait for a CPU is mentioned. */
const MIN_DELAY_SHARE = 0.05;

/** Requests are slow then, and nothing of the application blocks. */
export function runDelayText(summary: {
  readonly elapsedMillis: number;
  readonly runDelayMillis?: number;
}): string | undefined {
  const { elapsedMillis, runDelayMillis = 0 } = summary;
  const share = runDelayMillis / elapsedMillis;
  if (!(share >= MIN_DELAY_SHARE)) return undefined;
  const waited = `${duration(runDelayMillis)} (${percent(share)})`;
  return `not the application: the thread waited ${waited} for a CPU`;
}
