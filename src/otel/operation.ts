/**
 * What a request or a message is counted under: its route, the shape of its path if there is none,
 * else the name of its entry span.
 *
 * Guarantees: the path of a request is in none of it: what stands there is personal, or secret
 * (`/reset/<address>/<token>`), and each is another name.
 */
import type { Attributes } from '@opentelemetry/api';
import { boundedName } from '../support/bounded.ts';

/** Of a path without a known route. */
const MAX_SEGMENTS = 8;

/** Both are absent if nothing is known. */
export interface Operation {
  readonly httpRoute?: string;
  /** `GET /list`, `query Orders`, or what its entry span was named. */
  readonly name?: string;
}

/** A span of the SDK, as much of it as names an operation. */
export interface NamedSpan {
  readonly name?: unknown;
  readonly attributes?: Attributes;
}

/**
 * @param entry the entry span
 * @param route from the context, for an entry span that does not have it (yet)
 * @param operation that of GraphQL, of which all operations have one route
 */
export function operationOf(span: NamedSpan, route?: unknown, operation?: string): Operation {
  const httpRoute = nonEmpty(span.attributes?.['http.route']) ?? nonEmpty(route);
  const known = operation ?? withMethod(httpRoute, span.attributes) ?? nameOf(span);
  return {
    ...(httpRoute !== undefined && { httpRoute }),
    ...(known !== undefined && { name: known }),
  };
}

/** Whether the route says all that the name does: the name of a GraphQL operation says more. */
export function isNamedByRoute({ httpRoute, name }: Operation): boolean {
  return httpRoute !== undefined && (name ?? httpRoute).endsWith(httpRoute);
}

function withMethod(route: string | undefined, attributes?: Attributes): string | undefined {
  const method = methodOf(attributes);
  return route === undefined || method === undefined ? route : `${method} ${route}`;
}

/** The name that somebody gave it; not what HTTP instrumentations do, some by the path. */
function nameOf({ name, attributes }: NamedSpan): string | undefined {
  const known = nonEmpty(name);
  const method = methodOf(attributes);
  const isGiven = known !== undefined && !known.includes('/') && !known.endsWith(method ?? '');
  if (method === undefined || isGiven) return known;
  const path = attributes?.['url.path'] ?? attributes?.['http.target'];
  return typeof path === 'string' ? `${method} ${shapeOf(path)}` : method;
}

/** What a GraphQL instrumentation knows of the operation that a span executes. */
export function graphqlOperationOf({ attributes }: NamedSpan): string | undefined {
  const type = attributes?.['graphql.operation.type'];
  const name = nonEmpty(attributes?.['graphql.operation.name']);
  return type === undefined || name === undefined ? undefined : `${type} ${name}`;
}

// `/*/*` of `/users/jane?full`: what stands in a path may be personal, or secret.
export function shapeOf(path: string): string {
  let shape = '';
  for (let i = 0, segments = 0; i < path.length && segments <= MAX_SEGMENTS; i++) {
    const character = path[i];
    if (character === '?') break;
    if (character !== '/') continue;
    shape += ++segments > MAX_SEGMENTS ? '/…' : '/*';
  }
  return shape;
}

/** The name before semantic conventions 1.23, too: instrumentations may still use it. */
const methodOf = (attributes?: Attributes) =>
  nonEmpty(attributes?.['http.request.method'] ?? attributes?.['http.method']);

export function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? boundedName(value) : undefined;
}
