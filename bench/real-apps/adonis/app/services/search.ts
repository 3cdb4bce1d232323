const counts = new Map<string, number>();

/** Returns at once. One piece at a time is indexed, so that others get their turn. */
export function startIndex(pieces: number) {
  const queue = Array.from({ length: pieces }, (_, i) => i);
  const next = () => {
    const piece = queue.shift();
    if (piece === undefined) return;
    addTrigrams(`order ${piece} `.repeat(40000));
    setTimeout(next, 5);
  };
  setTimeout(next, 5);
}

function addTrigrams(text: string) {
  for (let i = 0; i + 3 <= text.length; i++) {
    const key = text.slice(i, i + 3);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}
