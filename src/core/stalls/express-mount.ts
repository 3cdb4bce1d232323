/**
 * Where the router is mounted whose route has answered a request of Express 4 or 5: `/users/*` and
 * not `/users/jane`.
 *
 * Guarantees: of `baseUrl` it tells only the parts without which that router is not reached. All
 * others are values, and so is what looks like one.
 */
import { attempt } from '../../support/guard.ts';

interface Layer {
  readonly route?: unknown;
  readonly handle?: { readonly stack?: readonly Layer[] };
  /** Of the latest match, before Express 5.3. */
  readonly path?: string;
  match(path: string): boolean | { readonly path: string };
}

export interface ExpressRequest {
  readonly route?: { readonly path?: unknown };
  readonly baseUrl?: string;
  readonly app?: Record<'_router' | 'router', { readonly stack?: readonly Layer[] } | undefined>;
}

/** A name that somebody has chosen, as `oauth2`. */
const NAME = /^[a-z](?:[a-z_.-]|\d(?!\d\d)){0,31}$/i;
const MAX_DEPTH = 16;
/** One router may be mounted in several places. */
const MAX_MOUNTS = 4;

/** By the route: a pattern is found out once. */
const mounts = new WeakMap<object, string[][]>();

export function mountOf(request: ExpressRequest): string {
  const { route, baseUrl } = request;
  if (route === undefined || typeof baseUrl !== 'string' || baseUrl === '') return '';
  const parts = baseUrl.split('/').slice(1);
  const known = mounts.get(route) ?? [];
  const isOf = (mount: string[]) =>
    mount.length === parts.length && mount.every((part, i) => part === '*' || part === parts[i]);
  let mount = known.find(isOf);
  if (mount === undefined) {
    mount = parts.map(() => '*');
    if (known.length < MAX_MOUNTS) {
      mount = attempt(() => patternOf(request, parts)) ?? mount;
      mounts.set(route, [...known, mount]);
    }
  }
  return mount.map((part) => `/${part}`).join('');
}

function patternOf({ app, route }: ExpressRequest, parts: readonly string[]): string[] {
  // The other name throws in Express 4.
  const stack = (app?._router ?? app?.router)?.stack ?? [];
  const isReachedBy = (changed: readonly string[]) =>
    reaches(stack, changed.map((part) => `/${part}`).join(''), route);
  const isKnown = isReachedBy(parts);
  return parts.map((part, i) =>
    isKnown && NAME.test(part) && !isReachedBy(parts.with(i, another(part))) ? part : '*',
  );
}

/** Whether routers that are mounted in each other lead to the one with this route. */
function reaches(stack: readonly Layer[], path: string, route: unknown, depth = 0): boolean {
  return stack.some((layer) => {
    if (layer.route !== undefined) return layer.route === route && path === '';
    const inner = layer.handle?.stack;
    if (inner === undefined || depth === MAX_DEPTH) return false;
    const match = layer.match(path || '/');
    if (match === false) return false;
    const used = (match === true ? layer.path : match.path) ?? '';
    return reaches(inner, path.slice(used.length), route, depth + 1);
  });
}

/** What a pattern would match as well: other letters and digits. */
const another = (part: string) =>
  part.replace(/[a-z\d]/gi, (each) => ({ z: 'a', Z: 'A', 9: '0' })[each] ?? next(each));

const next = (character: string) => String.fromCharCode(character.charCodeAt(0) + 1);
