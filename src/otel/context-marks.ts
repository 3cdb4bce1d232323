/** What this package keeps in a context. */
import { type Context, createContextKey, ROOT_CONTEXT, type Span } from '@opentelemetry/api';
import { PACKAGE_NAME } from '../version.ts';

// A registered symbol: each copy of this package knows the marks of the others.
const EXPECTS_BLOCKS = createContextKey(`${PACKAGE_NAME} expects blocks`);

/** For code that is meant to block. */
export function expectingBlocks(context: Context): Context {
  return context.setValue(EXPECTS_BLOCKS, true);
}

export function expectsBlocks(context: Context): boolean {
  return context.getValue(EXPECTS_BLOCKS) === true;
}

/**
 * The context of a block that belongs to no request: the one whose code ran had ended before, and
 * had made the connection, timer or promise.
 */
const MADE_BY = createContextKey('event loop: made by');

/** One context for each span: blocks and votes of the same one add up. */
const contexts = new WeakMap<Span, Context>();

/** @param made the context in which `span` is active */
export function contextMadeBy(span: Span, made: Context): Context {
  const known = contexts.get(span);
  if (known !== undefined) return known;
  const context = ROOT_CONTEXT.setValue(MADE_BY, made);
  contexts.set(span, context);
  return context;
}

/** The context that {@link contextMadeBy} was given; undefined if the context is another one. */
export function madeByIn(context: Context | undefined): Context | undefined {
  return context?.getValue(MADE_BY) as Context | undefined;
}
