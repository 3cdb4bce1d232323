// What kind of span one is, by what is the same in Jaeger and in OTLP as it was sent.
import { BLOCK_SPAN } from '../../../tools/otlp.cjs';

export const isBlocked = ({ name }) => name === BLOCK_SPAN;
export const isOngoing = ({ attributes }) => attributes['event_loop.block.unfinished'] === true;
/** In Jaeger. */
export const isServer = ({ attributes }) => attributes['span.kind'] === 'server';
