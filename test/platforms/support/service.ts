/** An application in a process of its own, as a platform starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { plainEnvironment } from '../../../tools/harness.cjs';

const READY = /^listening (\d+)$/m;

export class Service {
  stdout = '';
  stderr = '';
  readonly #exited: Promise<unknown[]>;

  private constructor(readonly child: ChildProcess) {
    this.#exited = once(child, 'close');
    child.stdout?.on('data', (data) => {
      this.stdout += data;
    });
    child.stderr?.on('data', (data) => {
      this.stderr += data;
    });
  }

  static start(
    command: string,
    args: string[],
    options: { cwd: string; env: NodeJS.ProcessEnv },
  ): Service {
    const env = { ...plainEnvironment(), ...options.env };
    return new Service(spawn(command, args, { cwd: options.cwd, env, stdio: 'pipe' }));
  }

  /** What follows `listening`, when it is printed. */
  async listening(): Promise<string> {
    for (;;) {
      const port = READY.exec(this.stdout)?.[1];
      if (port !== undefined) return `http://127.0.0.1:${port}/`;
      const { exitCode, stdout } = this.child;
      if (exitCode !== null || stdout === null) throw new Error(`it has ended: ${this.stderr}`);
      await Promise.race([once(stdout, 'data'), this.#exited]);
    }
  }

  /** Ends it, or waits until it has ended by itself. */
  async ended(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: string | null }> {
    if (signal !== undefined) this.child.kill(signal);
    const [code, by] = (await this.#exited) as [number | null, string | null];
    return { code, signal: by };
  }
}
