/** The heaviest of what is added. Guarantees: at most a quarter more than `max` are kept. */
export class Longest<Item> {
  #items: Item[] = [];
  dropped = 0;

  constructor(
    private readonly weightOf: (item: Item) => number,
    private readonly max: number,
  ) {}

  /** Whether others were left out for it. */
  add(item: Item): boolean {
    this.#items.push(item);
    if (this.#items.length <= 1.25 * this.max) return false;
    this.#trim();
    return true;
  }

  get kept(): readonly Item[] {
    return this.#items;
  }

  read(): readonly Item[] {
    this.#trim();
    return this.#items;
  }

  #trim(): void {
    const tooMany = this.#items.length - this.max;
    if (tooMany <= 0) return;
    this.#items.sort((a, b) => this.weightOf(b) - this.weightOf(a));
    this.#items.length = this.max;
    this.dropped += tooMany;
  }
}
