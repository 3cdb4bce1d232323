/**
 * Which contexts are those of code that is meant to block. Each copy of this package knows those of
 * the others.
 */
import { type Context, createContextKey } from '@opentelemetry/api';
import { PACKAGE_NAME } from '../version.ts';

// A registered symbol.
const EXPECTS_BLOCKS = createContextKey(`${PACKAGE_NAME} expects blocks`);

export function expectingBlocks(context: Context): Context {
  return context.setValue(EXPECTS_BLOCKS, true);
}

export function expectsBlocks(context: Context): boolean {
  return context.getValue(EXPECTS_BLOCKS) === true;
}
