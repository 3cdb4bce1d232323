/** What kind of callback an async resource stands for, and the name async_hooks has for it. */
import { AsyncResource, executionAsyncResource } from 'node:async_hooks';
import { promisify } from 'node:util';
import { type Context, context } from '@opentelemetry/api';
import {
  CALLBACK,
  type CallbackClass,
  MESSAGE,
  REACTION,
  RESOURCE_SCOPE,
  TICK,
} from '../loop/callback-class.ts';
import { attempt } from '../support/guard.ts';

// Under jest, or in a vm context, this module's own Object and Promise are not those of Node.js
// itself, whose ticks and promises have to be known. A class and a promise made by Node.js lead to
// them.
const NodeObject = Object.getPrototypeOf(AsyncResource.prototype).constructor as ObjectConstructor;
const NodePromise = promisify((done: (error: null) => void) => done(null))()
  .constructor as PromiseConstructor;

/**
 * The classes of the latest two resources whose class alone says what they are, and what they are.
 */
let recent: unknown;
let recentClass: CallbackClass = CALLBACK;
let older: unknown;
let olderClass: CallbackClass = CALLBACK;

/**
 * Hot: runs once per outermost callback; its cost is part of what `npm run bench -- hooks` prints
 * for one.
 *
 * A nextTick's resource is a plain object with the callback in it, a queueMicrotask's an
 * AsyncResource with one. Any other AsyncResource is entered from JavaScript: at the outermost
 * level that means from a reaction without a hook.
 */
export function classify(resource: object): CallbackClass {
  const type = resource.constructor;
  if (type === recent) return recentClass;
  if (type === older) return olderClass;
  if (type === Promise || type === NodePromise) return REACTION;
  if (type === NodeObject) return 'callback' in resource ? TICK : CALLBACK;
  if (type === AsyncResource) return 'callback' in resource ? REACTION : RESOURCE_SCOPE;
  older = recent;
  olderClass = recentClass;
  recent = type;
  recentClass = classifyByClass(resource);
  return recentClass;
}

const HTTP_SERVER_RESOURCE = 'HTTPServerAsyncResource';

/** Up to three walks along a prototype chain. */
function classifyByClass(resource: object): CallbackClass {
  if (resource instanceof AsyncResource) return RESOURCE_SCOPE;
  if (resource.constructor?.name === HTTP_SERVER_RESOURCE) return MESSAGE;
  return resource instanceof NodePromise || resource instanceof Promise ? REACTION : CALLBACK;
}

/**
 * The active context of the resource that is running, as it was while its callback ran. An
 * AsyncResource puts the context back before `after` (Node.js 24 and later, where AsyncLocalStorage
 * no longer depends on async_hooks), so it is entered again to be asked.
 */
export function contextOf(resource: object | undefined): Context {
  if (!(resource instanceof AsyncResource)) return context.active();
  return AsyncResource.prototype.runInAsyncScope.call(resource, () => context.active()) as Context;
}

/**
 * Names that differ between a resource's class and its async_hooks type, as observed with an
 * `init` hook on Node 20 to 26. Types that depend on how a class is used (servers) cannot be
 * distinguished and get the common one.
 */
const TYPES: Readonly<Record<string, string>> = {
  FSEvent: 'FSEVENTWRAP',
  HTTPClientAsyncResource: 'HTTPCLIENTREQUEST',
  [HTTP_SERVER_RESOURCE]: 'HTTPINCOMINGMESSAGE',
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
 * Whether the resource that runs is known. Bun and Deno return none, or always the same one. Tried
 * when this is loaded: later that would be in a hook, or in code that blocks.
 */
const tracksResources =
  attempt(() => {
    const probe = new AsyncResource('EventLoopProbe');
    return probe.runInAsyncScope(executionAsyncResource) === probe;
  }) === true;

/** `executionAsyncResource()`, or undefined where the runtime does not know it. */
export const currentResource = (): object | undefined =>
  tracksResources ? executionAsyncResource() : undefined;

/** The async_hooks type of a resource, or undefined where it is not known. */
export function resourceTypeOf(resource: object | undefined): string | undefined {
  if (resource === undefined) return undefined;
  const name = resource.constructor?.name;
  if (!name) return undefined;
  if (name === 'Object') return classify(resource) === TICK ? 'TickObject' : undefined;
  if (Object.hasOwn(TYPES, name)) return TYPES[name];
  if (OWN_NAME.has(name)) return name;
  // Native requests and handles: FSReqCallback is FSREQCALLBACK, GetAddrInfoReqWrap is
  // GETADDRINFOREQWRAP.
  return resource instanceof AsyncResource ? name : name.toUpperCase();
}
