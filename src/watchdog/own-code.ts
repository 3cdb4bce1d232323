/**
 * Where this package's own code stands, so that it is never told as what holds the loop.
 *
 * The name of its folder would not say it: the package may be linked from another place, or bundled into the one file of an
 * application. It is all one module though, which a bundler keeps together: own is what stands between its first function, here
 * (nothing may be evaluated before this module), and its last one, in `index.ts`.
 */
import type { CodePosition } from '../block.ts';

/** Calls what it is given, and nothing else: whoever looks at its caller's place sees where the function stands. */
type Bookmark = (whereAmI: () => CodePosition | undefined) => CodePosition | undefined;

const first: Bookmark = (whereAmI) => whereAmI();
let last: Bookmark | undefined;

export function markEndOfOwnCode(bookmark: Bookmark): void {
  last = bookmark;
}

/** @param whereAmI tells the place of its caller */
export function findOwnCode(whereAmI: () => CodePosition | undefined): (place: CodePosition) => boolean {
  const from = first(whereAmI);
  const to = last?.(whereAmI);
  if (from?.file === undefined || from.file !== to?.file) return () => false;
  return (place) => place.file === from.file && !isBefore(place, from) && !isBefore(to, place);
}

function isBefore(a: CodePosition, b: CodePosition): boolean {
  const lines = (a.line ?? 0) - (b.line ?? 0);
  return lines < 0 || (lines === 0 && (a.column ?? 0) < (b.column ?? 0));
}
