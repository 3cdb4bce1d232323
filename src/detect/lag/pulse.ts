/**
 * A timer with nothing to do, for thresholds that the lag's timer is too slow for: the hooks
 * are called when it fires, which shows that nothing blocks the event loop.
 */
import { clearInterval, setInterval } from 'node:timers';

export class Pulse {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly intervalMillis: number) {}

  start(): void {
    this.#timer ??= setInterval(() => {}, this.intervalMillis).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
