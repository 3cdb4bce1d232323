/** An index that is made in the background, one piece at a time. */
export class IndexService {
  readonly counts = new Map<string, number>();

  /** Returns at once. */
  start(pieces: number) {
    const queue = Array.from({ length: pieces }, (_, i) => i);
    const next = () => {
      const piece = queue.shift();
      if (piece === undefined) return;
      this.addTrigrams(`order ${piece} `.repeat(40000));
      setTimeout(next, 5);
    };
    setTimeout(next, 5);
  }

  private addTrigrams(text: string) {
    for (let i = 0; i + 3 <= text.length; i++) {
      const key = text.slice(i, i + 3);
      this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    }
  }
}
