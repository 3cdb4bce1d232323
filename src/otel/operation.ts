/**
 * What a request or a message is counted under: its route, else the name of its entry span.
 *
 * Guarantees: the path of a request is in none of it: what stands there is personal, or secret
 * (`/reset/<address>/<token>`), and each is another name.
 */
import type { Attributes } from '@opentelemetry/api';
import { boundedName } from '../support/bounded.ts';

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

/** Some instrumentations name the span of a request by its path: then it is the method alone. */
function nameOf({ name, attributes }: NamedSpan): string | undefined {
  const known = nonEmpty(name);
  return known?.includes('/') ? (methodOf(attributes) ?? known) : known;
}

/** The name before semantic conventions 1.23, too: instrumentations may still use it. */
const methodOf = (attributes?: Attributes) =>
  nonEmpty(attributes?.['http.request.method'] ?? attributes?.['http.method']);

export function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? boundedName(value) : undefined;
}
