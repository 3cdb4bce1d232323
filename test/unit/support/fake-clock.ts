import type { Clock } from '../../../src/support/clock.ts';

/** Unix time at which the fake process began. */
export const EPOCH = 1_700_000_000_000;

/** A clock that moves only when a test moves it. */
export class FakeClock implements Clock {
  time = 1000;
  idleTime = 500;
  lostWaits = 0;
  loops = 7;
  started = true;
  cpuTime = 200;
  epochSyncs = 0;
  cpuIsOfThread = true;

  now() {
    return this.time;
  }
  idle() {
    return this.idleTime;
  }
  waited() {
    return this.idleTime + this.lostWaits;
  }
  addLostWait(millis: number) {
    this.lostWaits += millis;
  }
  loopCount() {
    return this.loops;
  }
  loopStarted() {
    return this.started;
  }
  cpu() {
    return this.cpuTime;
  }
  epoch(time: number) {
    return EPOCH + time;
  }
  syncEpoch() {
    this.epochSyncs++;
  }

  /** JavaScript runs. */
  run(millis: number) {
    this.time += millis;
    this.cpuTime += millis;
  }
  /** The loop waits for events. */
  wait(millis: number) {
    this.time += millis;
    this.idleTime += millis;
  }
  /** The loop waits for events, until a signal interrupts the wait: libuv does not count it. */
  waitUncounted(millis: number) {
    this.time += millis;
  }
  /** The next iteration begins. */
  turn() {
    this.loops++;
  }
}
