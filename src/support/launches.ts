/**
 * Whether this process is the application, or only launches it: `npm start`, `nest start`, PM2, a
 * wrapper that forks. All of them inherit `NODE_OPTIONS`, and so this package.
 *
 * A process is a launcher while
 * 1. it has a child that writes to its standard output, has a channel to it, or is Node.js;
 * 2. and it has no server of its own and no socket: an application that forks helpers has.
 *
 * What blocks a launcher is reported all the same. It leaves the port, the page and the last word
 * to the application.
 */
import { AsyncResource } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { attempt } from './guard.ts';
import { now, setTimeout } from './time.ts';

const SPAWN_CHANNEL = 'child_process';
/** Published by Node.js when a server has begun to listen. */
export const LISTEN_CHANNEL = 'tracing:net.server.listen:asyncEnd';

/** A launcher may have a socket for a moment, and an application a child. */
const FIRST_LOOK_MILLIS = 25;
const MAX_LOOK_MILLIS = 1000;
/** A launcher has few children. */
const MAX_CHILDREN = 16;

const PRELOAD = /(?:--require|--import|-r)[= ]/;
const SOCKET = /^(?:TCPSocket|TLS|UDP)/i;

export class Launches {
  /** When this process had launched the application, by `performance.now()`. */
  launchedAt: number | undefined;
  /** It launches the application, and does nothing else. As of the latest look. */
  isLauncher = false;
  readonly #children = new Set<ChildProcess>();
  /** A timer would keep the stores of what spawns a process. */
  readonly #root = new AsyncResource('event-loop-launches');
  #lookMillis = 0;

  start(): void {
    const options = [process.env['NODE_OPTIONS'], ...process.execArgv, ''].join(' ');
    // Without a preload, only the application itself loads this package.
    if (!PRELOAD.test(options) || !isMainThread) return;
    subscribe(SPAWN_CHANNEL, this.#onSpawn);
    subscribe(LISTEN_CHANNEL, this.#onListening);
  }

  /** The child is spawned after this. */
  readonly #onSpawn = (message: unknown): void =>
    void attempt(() => {
      if (this.#children.size >= MAX_CHILDREN) return;
      this.#children.add((message as { process: ChildProcess }).process);
      const isLooking = this.#lookMillis > 0;
      this.#lookMillis = FIRST_LOOK_MILLIS;
      if (!isLooking) this.#lookLater();
    });

  /** A server of TCP is the application's: nothing has to be found out any more. */
  readonly #onListening = (message: unknown): void =>
    void attempt(() => {
      const { server } = message as { server: Server };
      // The primary of a cluster listens for its workers.
      const isForWorkers = server.listeners('connection').some(({ name }) => name === 'fail');
      if (isForWorkers || typeof server.address() !== 'object') return;
      unsubscribe(SPAWN_CHANNEL, this.#onSpawn);
      unsubscribe(LISTEN_CHANNEL, this.#onListening);
      this.#children.clear();
      this.isLauncher = false;
      this.launchedAt = undefined;
    });

  #lookLater(): void {
    const look = () => void attempt(() => this.#look());
    this.#root.runInAsyncScope(() => setTimeout(look, this.#lookMillis).unref());
  }

  #look(): void {
    for (const child of this.#children) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (hasEnded || child.pid === undefined) this.#children.delete(child);
    }
    const isBusy = hasSockets();
    this.isLauncher = !isBusy && [...this.#children].some(mayBeApplication);
    if (this.isLauncher) this.launchedAt ??= now();
    else if (isBusy) this.launchedAt = undefined;
    this.#lookMillis =
      this.#children.size === 0 ? 0 : Math.min(2 * this.#lookMillis, MAX_LOOK_MILLIS);
    if (this.#lookMillis > 0) this.#lookLater();
  }
}

let ofThread: Launches | undefined;

/** Those of this thread. They are watched from now on. */
export function launches(): Pick<Launches, 'isLauncher' | 'launchedAt'> {
  if (ofThread === undefined) {
    ofThread = new Launches();
    const created = ofThread;
    attempt(() => created.start());
  }
  return ofThread;
}

/** The output of a helper is read. */
function mayBeApplication({ spawnfile, stdout, connected }: ChildProcess): boolean {
  return stdout === null || connected || spawnfile === process.execPath;
}

function hasSockets(): boolean {
  return process.getActiveResourcesInfo().some((name) => SOCKET.test(name));
}
