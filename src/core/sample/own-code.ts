/**
 * Finds which positions are this package's own code, so that it never names itself.
 *
 * The name of its folder would not say it: the package may be linked from another place, or bundled
 * into the one file of an application. A bundler keeps one module together though: own is what lies
 * between the module's first function, here (nothing may be evaluated before this file), and its
 * last one, in `core.ts`.
 */
import type { CodePosition } from '../../block.ts';

/** The bookmark calls `whereAmI`, which returns the position of its caller: the bookmark's. */
type Bookmark = (whereAmI: () => CodePosition | undefined) => CodePosition | undefined;

const first: Bookmark = (whereAmI) => whereAmI();
let last: Bookmark | undefined;

export function markEndOfOwnCode(bookmark: Bookmark): void {
  last = bookmark;
}

/** @param whereAmI returns the position of its caller */
export function findOwnCode(
  whereAmI: () => CodePosition | undefined,
): (position: CodePosition) => boolean {
  const from = first(whereAmI);
  const to = last?.(whereAmI);
  if (from?.file === undefined || from.file !== to?.file) return () => false;
  return (position) =>
    position.file === from.file && !isBefore(position, from) && !isBefore(to, position);
}

function isBefore(a: CodePosition, b: CodePosition): boolean {
  const lines = (a.line ?? 0) - (b.line ?? 0);
  return lines < 0 || (lines === 0 && (a.column ?? 0) < (b.column ?? 0));
}
