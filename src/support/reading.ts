/**
 * Whether this thread reads files to find names. That of an application never does: it would be
 * blocked meanwhile.
 */
let isAllowed = false;

/** Call it at the start of a thread. */
export function allowReading(): void {
  isAllowed = true;
}

export const mayRead = (): boolean => isAllowed;
