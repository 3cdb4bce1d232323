/** Something that is waited for, and comes once. Keeps no process alive. */
export class Latch {
  #isOpen = false;
  #waiting: (() => void)[] = [];

  /** Lets all pass that wait, and all that come later. */
  open(): void {
    this.#isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  opened(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isOpen) resolve();
      else this.#waiting.push(resolve);
    });
  }
}
