/** Finds the async_hooks type of a resource, and whether it runs in the drain after a callback. */
import {
  AsyncLocalStorage,
  AsyncResource,
  executionAsyncId,
  executionAsyncResource,
} from 'node:async_hooks';
import { promisify, types } from 'node:util';
import type { Context } from '@opentelemetry/api';
import type { Drain, RunningResource } from '../../../block.ts';
import { activeContext } from '../../../otel/active-context.ts';
import { boundedName } from '../../../support/bounded.ts';
import { attempt } from '../../../support/guard.ts';
import { socketTo } from '../attribution/owner.ts';
import { senderOf } from './message-senders.ts';

// Under jest, or in a vm context, this module's own Object and Promise are not those of Node.js
// itself, whose ticks and promises have to be known. A class and a promise made by Node.js lead to
// them.
const NodeObject = Object.getPrototypeOf(AsyncResource.prototype).constructor as ObjectConstructor;
const NodePromise = promisify((done: (error: null) => void) => done(null))()
  .constructor as PromiseConstructor;

/**
 * The property in which Node.js keeps the async id of what its JavaScript makes: promises, ticks,
 * microtasks, instances of AsyncResource (Node.js 20 to 26). Undefined in other runtimes.
 */
const ASYNC_ID = propertyOf('async_id_symbol');
/** Whether promises get an async id: until Node.js 24, beside an AsyncLocalStorage. */
export const hasPromiseHooks = (): boolean =>
  ASYNC_ID !== undefined && Object.hasOwn(Promise.resolve(), ASYNC_ID);

/** The property with the context of an AsyncResource (Node.js 22 and later). */
const CONTEXT_FRAME = propertyOf('context_frame');

/** The async id of a timer or an immediate; NaN if it is not known. */
export function timerAsyncId(timer: object = {}): number {
  const id = Object.getOwnPropertySymbols(timer).find(
    ({ description }) => description === 'asyncId',
  );
  return id === undefined ? Number.NaN : Number((timer as Record<symbol, unknown>)[id]);
}

function propertyOf(name: string): symbol | undefined {
  const symbols = Object.getOwnPropertySymbols(new AsyncResource('EventLoopProbe'));
  return symbols.find(({ description }) => description === name);
}

/**
 * Whether it runs in the drain after a callback: a nextTick, or a promise reaction or microtask.
 * Both were made by JavaScript, and have their own async id. An add-on may pass any object as the
 * resource of its callbacks, whose id is another one: napi-rs passes the promise that it resolves.
 */
function drainOf(resource: object, asyncId: number, type: object): Drain | undefined {
  if (ASYNC_ID !== undefined && dataOf(resource, ASYNC_ID) !== asyncId) return undefined;
  const hasCallback = Object.hasOwn(resource, 'callback');
  if (type === NodeObject) return hasCallback ? 'tick' : undefined;
  if (type === AsyncResource) return hasCallback ? 'reaction' : undefined;
  return resource instanceof NodePromise || resource instanceof Promise ? 'reaction' : undefined;
}

/** AsyncLocalStorage depends on async_hooks: before Node.js 24, unless a flag says otherwise. */
const dependsOnHooks = '_enable' in AsyncLocalStorage.prototype;
/** Entered in the place of an application's AsyncResource: its hooks see each run of that once. */
const carrier = new AsyncResource('EventLoopProbe') as unknown as Record<symbol, unknown>;

/**
 * The active context of the resource that is running, as it was while its callback ran. Without
 * async_hooks, an AsyncResource puts the context back before `after`.
 */
export function contextOf(resource: object | undefined): Context {
  const isOver = attempt(() => resource instanceof AsyncResource) === true;
  if (!isOver || CONTEXT_FRAME === undefined || dependsOnHooks) return activeContext();
  carrier[CONTEXT_FRAME] = (resource as typeof carrier)[CONTEXT_FRAME];
  try {
    return (carrier as unknown as AsyncResource).runInAsyncScope(activeContext);
  } finally {
    carrier[CONTEXT_FRAME] = undefined;
  }
}

/**
 * Names that differ between a resource's class and its async_hooks type, as observed with an
 * `init` hook on Node 20 to 26. Types that depend on how a class is used (servers) cannot be
 * distinguished and get the common one.
 */
const TYPES: Readonly<Record<string, string>> = {
  FSEvent: 'FSEVENTWRAP',
  HTTPClientAsyncResource: 'HTTPCLIENTREQUEST',
  HTTPServerAsyncResource: 'HTTPINCOMINGMESSAGE',
  HashJob: 'HASHREQUEST',
  PBKDF2Job: 'PBKDF2REQUEST',
  Pipe: 'PIPEWRAP',
  Process: 'PROCESSWRAP',
  Promise: 'PROMISE',
  RandomBytesJob: 'RANDOMBYTESREQUEST',
  ReadFileJob: 'FSREQCALLBACK',
  SafePromise: 'PROMISE',
  ScryptJob: 'SCRYPTREQUEST',
  SendWrap: 'UDPSENDWRAP',
  Signal: 'SIGNALWRAP',
  TCP: 'TCPWRAP',
  TTY: 'TTYWRAP',
  UDP: 'UDPWRAP',
};

/** Classes whose async_hooks type is their own name. */
const OWN_NAME = new Set(['Timeout', 'Immediate', 'TLSWrap', 'AsyncResource']);

/**
 * `executionAsyncResource()`; undefined if reading it throws: Node.js itself reads a property of
 * it, and an add-on may have passed a revoked proxy.
 */
export function runningResource(): object | undefined {
  try {
    return executionAsyncResource();
  } catch {
    return undefined;
  }
}

/** The async_hooks type of the resource that is running, or undefined if it is not known. */
export const resourceTypeOf = (
  resource: object | undefined,
  asyncId = executionAsyncId(),
): string | undefined => attempt(() => typeOf(resource, asyncId));

/** The running resource, to be read later. */
export function takeResource(): RunningResource {
  const resource = runningResource();
  const asyncId = executionAsyncId();
  return {
    asyncId,
    type: () => resourceTypeOf(resource, asyncId),
    sender: () => senderOf(resource),
    drain: () => (asyncId === 0 ? 'reaction' : drainOfRunning(resource, asyncId)),
  };
}

/** What runs, in its `before` or `after`, if it is run in the drain after a callback. */
export const runningDrain = (): Drain | undefined =>
  drainOfRunning(runningResource(), executionAsyncId());

function drainOfRunning(resource: object | undefined, asyncId: number): Drain | undefined {
  return attempt(() => {
    const type = dataOf(resource, 'constructor');
    return resource !== undefined && isObject(type) ? drainOf(resource, asyncId, type) : undefined;
  });
}

/** Runs inside stack samples: no getter and no proxy of the application's is called. */
function typeOf(resource: object | undefined, asyncId: number): string | undefined {
  const type = dataOf(resource, 'constructor');
  const className = dataOf(type, 'name');
  if (resource === undefined || typeof className !== 'string' || !className) return undefined;
  const name = boundedName(className);
  const drain = drainOf(resource, asyncId, type as object);
  if (name === 'Object') return drain === 'tick' ? 'TickObject' : undefined;
  const known = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (known === 'TCPWRAP' || name === 'TLSWrap') return typeOfSocket(resource, known ?? name);
  // A resource of another class is an add-on's, which has a type of its own.
  if (known !== undefined) return known !== 'PROMISE' || drain !== undefined ? known : undefined;
  if (OWN_NAME.has(name)) return name;
  // Native requests and handles: FSReqCallback is FSREQCALLBACK, GetAddrInfoReqWrap is
  // GETADDRINFOREQWRAP.
  return resource instanceof AsyncResource ? name : name.toUpperCase();
}

/** A system call, some 2 µs. */
function typeOfSocket(socket: object, type: string): string {
  const peer: { port?: unknown } = {};
  const getpeername = dataOf(socket, 'getpeername');
  if (typeof getpeername === 'function') attempt(() => getpeername.call(socket, peer));
  return typeof peer.port === 'number' ? socketTo(peer.port, type) : type;
}

/** The value of a property, own or inherited; undefined if only the application's code knows it. */
function dataOf(object: unknown, key: PropertyKey): unknown {
  for (let each = object; isObject(each); each = Object.getPrototypeOf(each)) {
    if (types.isProxy(each)) return undefined;
    const property = Object.getOwnPropertyDescriptor(each, key);
    if (property !== undefined) return property.value;
  }
  return undefined;
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
