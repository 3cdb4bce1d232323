/** What the watchdog thread knows of the watched thread's CPU time. Linux only. */
import { attempt } from '../../support/guard.ts';
import { openFile, Schedstat } from '../../support/schedstat.ts';

const READY = 'R';

export class ThreadCpu extends Schedstat {
  #stat: ReturnType<typeof openFile> | undefined;

  /** @param folder the thread's, `/proc/<process>/task/<thread>`; undefined outside Linux */
  constructor(private readonly folder: string | undefined) {
    super(() => openFile(`${folder}/schedstat`));
  }

  override start(): void {
    if (this.folder === undefined) return;
    super.start();
    this.#stat = attempt(() => openFile(`${this.folder}/stat`));
  }

  override stop(): void {
    super.stop();
    attempt(() => this.#stat?.close());
  }

  /** Whether it runs, or is ready to and has no CPU: it does not wait in a call. 10 µs. */
  isReady(): boolean {
    const stat = attempt(() => this.#stat?.read()) ?? '';
    return stat[stat.lastIndexOf(')') + 2] === READY;
  }
}
