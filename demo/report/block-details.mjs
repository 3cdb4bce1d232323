// What an `event-loop-blocked` span says about itself, in one line: where, then what kind, then
// what it spent its time on.
import { relative } from 'node:path';
import { paint, plural, visibleLength } from './style.mjs';

const SEPARATOR = ' · ';

/**
 * @param {import('../../tools/otlp.cjs').Span} span
 * @param {number} room in cells: what comes last is left out if there is too little
 */
export function blockDetails(span, room) {
  const { attributes } = span;
  const callbacks = attributes['event_loop.block.callbacks'];
  const resource = attributes['event_loop.async_resource.type'];
  const facts = [
    codeLocation(attributes),
    nativeCall(attributes),
    workerThread(attributes),
    attributes['event_loop.block.unfinished'] && paint.bad('unfinished'),
    paint.block(attributes['event_loop.block.kind'] ?? 'of unknown kind'),
    callbacks !== undefined && paint.dim(plural(callbacks, 'callback')),
    severalFunctions(attributes),
    garbageCollection(span),
    offCpu(span),
    resource && paint.dim(resource),
  ].filter(Boolean);

  let line = facts[0];
  for (const fact of facts.slice(1)) {
    const longer = line + paint.dim(SEPARATOR) + fact;
    if (visibleLength(longer) > room) break;
    line = longer;
  }
  return line;
}

function codeLocation(attributes) {
  const name = attributes['code.function.name'];
  const file = attributes['code.file.path'];
  if (!name) return undefined;
  const line = attributes['code.line.number'];
  const place =
    file && paint.code.underline(`${shortPath(file)}${line === undefined ? '' : `:${line}`}`);
  return [paint.code(name.startsWith('<') ? name : `${name}()`), place].filter(Boolean).join(' ');
}

function workerThread({ 'thread.name': name }) {
  return name !== undefined && name !== 'main' && paint.request(`thread ${name}`);
}

/** `JSON.parse of 32,500,000`: the input's size is in characters, bytes or elements. */
function nativeCall(attributes) {
  const name = attributes['event_loop.block.native_call'];
  const size = attributes['event_loop.block.native_call.size'];
  if (name === undefined) return undefined;
  return paint.code(size === undefined ? name : `${name} of ${size.toLocaleString('en')}`);
}

/** `hashRow 78%, formatRow 22%`: worth a word when it is more than one. */
function severalFunctions(attributes) {
  const functions = attributes['event_loop.block.top_functions'];
  return functions?.includes(', ') && paint.code(functions);
}

/** Relative to the working directory if the file is below it. */
function shortPath(file) {
  const path = file.replace(/^file:\/\//, '');
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

/** Worth a word when it is a notable part of the block. */
function garbageCollection(span) {
  const share = shareOf(span, 'event_loop.block.gc_time');
  return share >= 0.1 && paint.fair(`${Math.round(share * 100)} % garbage collection`);
}

/**
 * A block that used the CPU little, and not because it waited for the garbage collector, waited for
 * something else.
 */
function offCpu(span) {
  const share = shareOf(span, 'event_loop.block.cpu_time');
  const collecting = shareOf(span, 'event_loop.block.gc_time') || 0;
  return share + collecting < 0.7 && paint.fair(`on the CPU ${Math.round(share * 100)} % of it`);
}

/**
 * @returns {number} of the span's length; NaN if the attribute is not there, and that compares
 *   false to anything
 */
const shareOf = (span, attribute) => (1000 * span.attributes[attribute]) / (span.end - span.start);
