/**
 * A stack as the way from the outermost function to the innermost one, of those that a block can be
 * named by. Which frames count, in this order:
 *
 * 1. What hooks and timers of this package have called runs on its account, and is left out
 *    (`withoutOwnCalls`).
 * 2. If the sample came late, a function that has only just been called did not run; its caller did
 *    (`pathBefore`).
 * 3. The running functions of the application and of packages; not of Node.js, of this package or
 *    of an agent. What awaits them has called them in two cases (`callerThatAwaits`).
 * 4. If there are none: an agent's functions; else evaluated code; else what awaits what runs.
 * 5. A function that recurs counts once (`withoutRecursion`).
 */
import type { StackFrame } from '../../../block.ts';
import { passesOn } from './continuation.ts';
import { isNodeFile, isWasmFile, type Origin, type OriginOf } from './in-app.ts';
import { dependsOn, packageOf } from './packages.ts';

export const ANONYMOUS = '<anonymous>';

const ASYNC_HOOKS = 'node:internal/async_hooks';
const TIMERS = 'node:internal/timers';
const MODULE_LOADER = 'node:internal/modules/';

export interface Step {
  readonly frame: StackFrame;
  /** {@link ANONYMOUS} if neither it nor the function around it has a name. */
  readonly name: string;
  /** Identifies the function. */
  readonly key: string;
  readonly origin: Origin;
  /** Folder of its package; empty for the application, and if it is not known. */
  readonly package: string;
  /** The code of a module, as it is loaded. */
  readonly isModule: boolean;
  /** Evaluated text has called it, as a template or a generated serializer does. */
  readonly isOfText: boolean;
}

export interface StackPath {
  /** Outermost first; empty if nothing on the stack can be named. */
  readonly steps: readonly Step[];
  /** True while the innermost function loads a module whose code does not run yet. */
  readonly isLoading: boolean;
  /** File of the module that is loaded, if it is known. */
  readonly loads?: string | undefined;
}

/**
 * The path that ran until a late sample came: without a function that has only just been called,
 * since V8 answers after a native call when the next function is called.
 */
export function pathBefore(stack: readonly StackFrame[], originOf: OriginOf): StackPath {
  const frames = withoutOwnCalls(stack);
  if (!isOnlyJustCalled(frames, originOf)) return pathOf(frames, originOf);
  const path = pathOf(frames.slice(1), originOf);
  return path.isLoading && isModuleAt(frames, 0) ? { ...path, loads: frames[0]?.file } : path;
}

/** True if the innermost frame has only just been called, and its caller can be named. */
function isOnlyJustCalled(frames: readonly StackFrame[], originOf: OriginOf): boolean {
  const [first] = frames;
  if (first === undefined || !first.isAtEntry || !isCode(first)) return false;
  return frames.some(
    (frame, i) =>
      i > 0 && isCode(frame) && !frame.isAsync && originOf(frame.file as string) !== 'agent',
  );
}

/**
 * Of a path before a late sample, whose innermost function may have been called only afterwards:
 * 1. The path is sure if a function of the application is on it.
 * 2. If the stack sample before shows that function further out, it had been called before. What it
 *    had called since, of the application, ran.
 * 3. A framework's next step, or an agent's, is not what ran: nobody is named.
 */
export function surePath(
  path: StackPath,
  earlier: { readonly frames: readonly StackFrame[] } | undefined,
  originOf: OriginOf,
): StackPath {
  const last = path.steps.at(-1);
  if (last === undefined || path.steps.some(({ origin }) => origin === 'app')) return path;
  const ran = pathAt(earlier?.frames ?? [], originOf);
  const at = ran.steps.findIndex(({ key }) => key === last.key);
  if (at !== -1 && ran.steps.slice(at).some(({ origin }) => origin === 'app')) return ran;
  const isNext = last.origin === 'dispatcher' || last.origin === 'agent';
  return isNext ? { steps: [], isLoading: false } : path;
}

/** The path that ran when the sample was taken. */
export function pathAt(stack: readonly StackFrame[], originOf: OriginOf): StackPath {
  return pathOf(withoutOwnCalls(stack), originOf);
}

/**
 * Whether code runs that is neither of Node.js nor of this package. May be called inside a stack
 * sample: NO REGULAR EXPRESSION may run here, see `sample/stack.ts`.
 */
export function hasUserCode(frames: readonly StackFrame[]): boolean {
  return withoutOwnCalls(frames).some(
    (frame) => !frame.isAsync && (isCode(frame) || frame.isEvaluated),
  );
}

/** Whether a block can be named by the stack: user code runs, or awaits what runs. */
export function hasNamedCode(frames: readonly StackFrame[]): boolean {
  return hasUserCode(frames) || withoutOwnCalls(frames).some(isCode);
}

/** What Node.js calls with a message that has been deserialized. */
const MESSAGE_FILES = ['node:internal/per_context/messageport', 'node:internal/child_process'];

/** Whether a message of a worker thread or child process was deserialized until now. */
export function beginsMessage(frames: readonly StackFrame[]): boolean {
  const [first] = frames;
  if (first?.isAtEntry !== true || !MESSAGE_FILES.includes(first.file ?? '')) return false;
  return !hasUserCode(frames);
}

/** Code of the application or of a package, with a place: not of Node.js, not of this package. */
function isCode({ file, isOwn }: StackFrame): boolean {
  return !isOwn && file !== undefined && !isNodeFile(file);
}

/** Whether hooks and timers are called from here. */
export const callsHooks = (file: string | undefined) => file === ASYNC_HOOKS || file === TIMERS;

function withoutOwnCalls(frames: readonly StackFrame[]): readonly StackFrame[] {
  const entry = frames.findLastIndex(({ isOwn }, i) => isOwn && callsHooks(frames[i + 1]?.file));
  if (entry === -1) return frames;
  return frames.slice(entry + 1);
}

function pathOf(frames: readonly StackFrame[], originOf: OriginOf): StackPath {
  const at = namedFrames(frames, originOf);
  const [innermost] = at;
  if (innermost === undefined) return { steps: [], isLoading: false };
  const steps = withoutRecursion(at.reverse().map((i) => stepAt(frames, i, originOf)));
  const isLoading = frames
    .slice(0, innermost)
    .some(({ file }) => file?.startsWith(MODULE_LOADER) === true);
  return { steps: steps.map((step, i) => asCalled(step, steps[i + 1])), isLoading };
}

const isText = ({ isEvaluated, isAsync }: StackFrame) => isEvaluated && !isAsync;

/** A function of the application dispatches where it calls a package by what it was given. */
function asCalled(step: Step, callee: Step | undefined): Step {
  const callsPackage = step.origin === 'app' && callee !== undefined && callee.origin !== 'app';
  return callsPackage && passesOn(step.frame) ? { ...step, origin: 'dispatcher' } : step;
}

/**
 * The functions that a block may be named by, outermost first: rule 5 of the README. If that is one
 * of a dispatcher, all functions from there on.
 */
export function placesOn(steps: readonly Step[]): readonly Step[] {
  const inApp = steps.filter(({ origin }) => origin === 'app');
  if (inApp.length > 0) return inApp;
  // What evaluated text calls was chosen by the package that made the text.
  const ofText = steps.findIndex(({ isOfText }, i) => i > 0 && isOfText);
  if (ofText !== -1) return placesOn(steps.slice(0, ofText));
  let place = 0;
  /** Packages that were called since, the outermost first. */
  let called: string[] = [];
  for (const [i, step] of steps.entries()) {
    const { frame, package: ofPlace } = steps[place] as Step;
    const isNext = i === place + 1;
    const isPassed = isNext && passesOn(frame);
    const isAwaited = isNext && step.package === ofPlace && frame.isAsync;
    const caller = called.indexOf(step.package);
    if (i === 0 || isPassed || isAwaited || (caller === -1 && isGiven(steps, i, called))) {
      place = i;
      called = [step.package];
    } else if (caller === -1) called.push(step.package);
    else called.length = caller + 1;
  }
  return steps.slice(place, steps[place]?.origin === 'dependency' ? place + 1 : undefined);
}

/**
 * Whether a function was given to its caller, which did not choose it. An agent's never is, nor the
 * function of a package that is on the stack already: that uses what called it. A dispatcher that a
 * package calls sends an answer.
 */
function isGiven(steps: readonly Step[], at: number, [, ...called]: readonly string[]): boolean {
  const { package: own, origin } = steps[at] as Step;
  const caller = steps[at - 1] as Step;
  if (origin === 'agent' || steps.slice(0, at).some((step) => step.package === own)) return false;
  if (caller.origin === 'dependency')
    if (origin === 'dispatcher' || dependsOn(caller.package, own) !== false) return false;
  return !called.some((each) => dependsOn(each, own) === true);
}

/** Indexes of the frames that count, innermost first. */
function namedFrames(frames: readonly StackFrame[], originOf: OriginOf): number[] {
  const running: number[] = [];
  const awaiting: number[] = [];
  const evaluated: number[] = [];
  for (const [i, frame] of frames.entries()) {
    if (isOfNode(frames, i)) continue;
    if (isCode(frame)) (frame.isAsync ? awaiting : running).push(i);
    else if (isText(frame)) evaluated.push(i);
  }
  const originAt = (i: number) => originOf(frames[i]?.file as string);
  const isOfOthers = (i: number) => originAt(i) !== 'agent';
  const runningOfOthers = running.filter(isOfOthers);
  const awaitingOfOthers = awaiting.filter(isOfOthers);
  if (runningOfOthers.length > 0) {
    const callers = callersThatAwait(frames, runningOfOthers, awaitingOfOthers, originOf);
    return [...runningOfOthers, ...callers];
  }
  if (running.length > 0) return running;
  if (evaluated.length > 0) return evaluated;
  const isApp = (i: number) => originAt(i) === 'app';
  return [awaitingOfOthers.find(isApp) ?? awaitingOfOthers[0]].filter((i) => i !== undefined);
}

/** Node.js has WebAssembly of its own: `fetch` parses HTTP by it. */
function isOfNode(frames: readonly StackFrame[], at: number): boolean {
  const isWasm = ({ file }: StackFrame) => file !== undefined && isWasmFile(file);
  if (!isWasm(frames[at] as StackFrame)) return false;
  const caller = frames.slice(at).find((frame) => !isWasm(frame));
  return caller?.file !== undefined && isNodeFile(caller.file);
}

/**
 * Callers that await the running code, the innermost first; none if a function of the application
 * runs:
 * 1. The innermost function of the application, of which a package goes on in a promise reaction.
 * 2. Else the functions of packages that are nearer than any of the application.
 */
function callersThatAwait(
  frames: readonly StackFrame[],
  running: readonly number[],
  awaiting: readonly number[],
  originOf: OriginOf,
): readonly number[] {
  const isApp = (i: number) => originOf(frames[i]?.file as string) === 'app';
  if (running.some(isApp)) return [];
  const app = awaiting.find((i) => isApp(i) && !passesOn(frames[i] as StackFrame));
  if (app !== undefined) return [app];
  const outside = awaiting.findIndex(isApp);
  return outside === -1 ? awaiting : awaiting.slice(0, outside);
}

function stepAt(frames: readonly StackFrame[], at: number, originOf: OriginOf): Step {
  const frame = frames[at] as StackFrame;
  const { file, functionName, functionLine, functionColumn, line } = frame;
  const position =
    functionLine === undefined ? (functionName ?? line) : `${functionLine}:${functionColumn}`;
  return {
    frame,
    name: functionName ?? wasmName(frame) ?? nameAround(frames, at) ?? ANONYMOUS,
    key: `${file ?? ''}\n${functionName ?? ''}\n${position}`,
    origin: file === undefined ? 'dependency' : originOf(file),
    package: packageAt(frames, at),
    isModule: isModuleAt(frames, at),
    isOfText:
      frames.slice(at + 1).find((each) => isCode(each) || isText(each))?.isEvaluated === true,
  };
}

/** A WebAssembly module is a part of the package that calls it. */
function packageAt(frames: readonly StackFrame[], at: number): string {
  const { file } = frames[at] as StackFrame;
  const caller = frames[at + 1];
  if (file === undefined) return '';
  const isCalled = isWasmFile(file) && caller?.file !== undefined && isCode(caller);
  return isCalled ? packageAt(frames, at + 1) : packageOf(file);
}

/** `wasm-function[12]` of `wasm://wasm/e8f224ae:wasm-function[12]:0x34`, as V8 shows it. */
function wasmName({ file, text }: StackFrame): string | undefined {
  if (file === undefined || !isWasmFile(file) || !text.startsWith(file)) return undefined;
  return text.slice(file.length + 1, text.lastIndexOf(':'));
}

/**
 * An anonymous function that a built-in calls (`rows.map((row) => ...)`) has the name of the
 * function that has called the built-in, if that is in the same file: it is the one around it.
 */
function nameAround(frames: readonly StackFrame[], at: number): string | undefined {
  const { file } = frames[at] as StackFrame;
  let i = at;
  for (;;) {
    const caller = frames[i + 1];
    const next = frames[i + 2];
    const throughBuiltin = caller?.isBuiltin === true && !caller.isAsync;
    if (!throughBuiltin || next === undefined || next.isAsync || next.file !== file)
      return undefined;
    if (next.functionName !== undefined) return next.functionName;
    i += 2;
  }
}

/**
 * A module's code has no name, and the loader calls it: `Module._compile`, `ModuleJob.run`, or a
 * translator of ES modules.
 */
function isModuleAt(frames: readonly StackFrame[], at: number): boolean {
  if (frames[at]?.functionName !== undefined) return false;
  const caller = frames[at + 1];
  if (caller?.file?.startsWith(MODULE_LOADER) !== true) return false;
  // Node.js 22 and later have the loader's name in the text only.
  return (
    caller.file.startsWith(`${MODULE_LOADER}esm/`) || caller.text.startsWith('Module._compile')
  );
}

/**
 * One step for a function that recurs: what lies between two calls of it is left out, unless that
 * would hide a function of the application behind one of a package (`app.list` → `each` → `app.row`
 * → `each`).
 */
function withoutRecursion(steps: readonly Step[]): Step[] {
  const path: Step[] = [];
  for (const step of steps) {
    const earlier = path.findLastIndex(({ key }) => key === step.key);
    const between = earlier === -1 ? [] : path.slice(earlier + 1);
    const hides = step.origin !== 'app' && between.some(({ origin }) => origin === 'app');
    if (earlier !== -1 && !hides) path.length = earlier;
    path.push(step);
  }
  return path;
}
