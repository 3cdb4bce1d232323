/**
 * Whether names are found with what files say, or with what is known of them already: the main
 * thread reads no files for a name.
 */
let isOff = false;
let isMissed = false;

/**
 * What `action` would have read counts as unknown.
 * @returns `isComplete`: it needed nothing of that
 */
export function withoutReading<Result>(action: () => Result) {
  isOff = true;
  isMissed = false;
  try {
    const result = action();
    return { result, isComplete: !isMissed };
  } finally {
    isOff = false;
  }
}

/** Ask before a file is read. */
export function mayRead(): boolean {
  isMissed ||= isOff;
  return !isOff;
}
