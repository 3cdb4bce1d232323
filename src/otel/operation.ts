/** What a request or a message is counted under: its route, else the name of its entry span. */
import type { Attributes } from '@opentelemetry/api';

/** Both are absent if nothing is known. */
export interface Operation {
  readonly httpRoute?: string;
  /** `GET /list`, `query Orders`, else the name of the entry span. */
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
export function operationOf(
  { name, attributes }: NamedSpan,
  route?: unknown,
  operation?: string,
): Operation {
  const httpRoute = nonEmpty(attributes?.['http.route']) ?? nonEmpty(route);
  const known = operation ?? withMethod(httpRoute, attributes) ?? nonEmpty(name);
  return {
    ...(httpRoute !== undefined && { httpRoute }),
    ...(known !== undefined && { name: known }),
  };
}

/** Whether the route says all that the name does: the name of a GraphQL operation says more. */
export function isNamedByRoute({ httpRoute, name }: Operation): boolean {
  return httpRoute !== undefined && (name ?? httpRoute).endsWith(httpRoute);
}

/** The names before semantic conventions 1.23, too: instrumentations may still use them. */
function withMethod(route: string | undefined, attributes?: Attributes): string | undefined {
  if (route === undefined) return undefined;
  const method = nonEmpty(attributes?.['http.request.method'] ?? attributes?.['http.method']);
  return method === undefined ? route : `${method} ${route}`;
}

export function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
