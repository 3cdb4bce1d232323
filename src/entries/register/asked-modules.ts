/**
 * Which modules instrumentations have asked for. Only those are wrapped, so the application's own
 * files stay as they are. Both the application's thread and that of module hooks use this.
 */
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** A specifier that names a package, and maybe a path in it. */
const PACKAGE = /^(?:@[^/]+\/)?[^./@:][^/:]*/;

export class AskedModules {
  readonly #names = new Set<string>();

  /** @param port gets an array of names from each instrumentation that is enabled */
  constructor(private readonly port: MessagePort) {}

  /** The option `shouldInclude` of import-in-the-middle. */
  readonly includes = (url: string, specifier: string): boolean => {
    this.#readNames();
    if (this.#names.has(url.startsWith('node:') ? url.slice('node:'.length) : specifier))
      return true;
    // `mysql2/promise`: instrumentations patch files of a package as well.
    const name = PACKAGE.exec(specifier)?.[0];
    if (name !== undefined && this.#names.has(name)) return url.startsWith('file:');
    // The file of a function on AWS Lambda is asked for by its path.
    return url.startsWith('file:') && this.#names.has(fileURLToPath(url));
  };

  /** Its option `include`, for versions before 3.2, which do not know `shouldInclude`. */
  names(): string[] {
    this.#readNames();
    return [...this.#names].filter((name) => !isAbsolute(name));
  }

  #readNames(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.port);
      if (received === undefined) return;
      for (const name of received.message as string[]) this.#names.add(name.replace(/^node:/, ''));
    }
  }
}
