/** A map that forgets what was not used for longest. */
export class Lru<Key, Value> {
  readonly #values = new Map<Key, Value>();

  constructor(private readonly maxSize: number) {}

  has(key: Key): boolean {
    return this.#values.has(key);
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key);
    if (value !== undefined || this.#values.has(key)) {
      this.#values.delete(key);
      this.#values.set(key, value as Value);
    }
    return value;
  }

  set(key: Key, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.maxSize)
      this.#values.delete(this.#values.keys().next().value as Key);
  }
}
