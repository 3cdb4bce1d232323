// Preloaded after `/register`: switches what that has put into the way of a request on and off, for
// as long as the benchmark says: scopes, the span processor and wrapped built-ins. Nothing is
// started or ended for it, and the watchdog thread watches all the time.
import { readdirSync, readFileSync } from 'node:fs';
import { Server } from 'node:http';
import { context } from '@opentelemetry/api';
import { EventLoopSpanProcessor } from 'opentelemetry-instrumentation-event-loop';

/** Which half of a round a slice is of: no drift favours one. */
const ROUND = ['on', 'off', 'off', 'on'];

/** Linux keeps 15 characters of the name of a thread. */
const WATCHDOG_THREAD = 'event-loop-watc';

let isOn = true;

const { replaced, spent } = globalThis.benchmark;

/** @type {import('./before.mjs').Replaced[]} */
let properties = [];

/** Once the SDK is started. */
function findProperties() {
  const manager = context._getContextManager();
  const { with: off } = Object.getPrototypeOf(manager);
  const scopes = {
    holder: manager,
    key: 'with',
    on: Object.getOwnPropertyDescriptor(manager, 'with'),
    off: { value: off, writable: true, configurable: true },
  };
  properties = [...replaced(), scopes];
  if (scopes.on === undefined || !properties.some(({ holder }) => holder === JSON))
    throw new Error('/register has not replaced what is to be switched');
}

const { prototype } = EventLoopSpanProcessor;
for (const name of ['onStart', 'onEnding', 'onEnd']) {
  const original = prototype[name];
  // Two arguments, as the widest of them: a rest parameter would allocate.
  prototype[name] = function (/** @type {unknown} */ span, /** @type {unknown} */ parent) {
    if (isOn) return original.call(this, span, parent);
  };
}

function switchTo(/** @type {'on' | 'off'} */ state) {
  isOn = state === 'on';
  for (const property of properties)
    Object.defineProperty(property.holder, property.key, property[state]);
}

let requests = 0;
const { emit } = Server.prototype;
Server.prototype.emit = function (/** @type {string} */ event, /** @type {unknown[]} */ ...args) {
  if (event === 'request') requests++;
  return emit.call(this, event, ...args);
};

/** Microseconds of all threads. */
function cpuOfProcess() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Microseconds; undefined if it is not found: Node.js 20 and 22 do not set a thread's name. */
function cpuOfWatchdogThread() {
  for (const id of readdirSync('/proc/self/task')) {
    const read = (/** @type {string} */ file) =>
      readFileSync(`/proc/self/task/${id}/${file}`, 'latin1');
    if (read('comm').trim() === WATCHDOG_THREAD)
      return Number(read('schedstat').split(' ')[0]) / 1e3;
  }
  return undefined;
}

const totals = () => ({
  requests,
  seconds: performance.now() / 1000,
  timers: spent.timers * 1000,
  watchdogThread: cpuOfWatchdogThread(),
});

/** @type {NodeJS.Timeout | undefined} */
let timer;
/** @type {{ state: string, cpu: number }[]} */
let slices = [];
let first = totals();

function begin(/** @type {number} */ millis) {
  let slice = -1;
  let cpu = 0;
  let count = 0;
  findProperties();
  slices = [];
  first = totals();
  timer = setInterval(() => {
    const state = ROUND[slice % ROUND.length];
    if (slice >= 0) slices.push({ state, cpu: (cpuOfProcess() - cpu) / (requests - count) });
    slice++;
    switchTo(ROUND[slice % ROUND.length]);
    cpu = cpuOfProcess();
    count = requests;
  }, millis);
}

function end() {
  clearInterval(timer);
  switchTo('on');
  return { slices, first, last: totals() };
}

process.on('message', ({ switchEvery }) => {
  const isEnd = switchEvery === undefined;
  process.send(isEnd ? end() : (begin(switchEvery) ?? 'begun'));
});
