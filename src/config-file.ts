/**
 * The options that a declarative configuration file has (`OTEL_CONFIG_FILE`). `/register` reads it;
 * every instance of the thread has them from then on.
 */
import { perThread } from './support/per-thread.ts';
import { PACKAGE_NAME } from './version.ts';

/** Where they stand in the file. */
export const FILE_SECTION = 'instrumentation/development.js.event_loop';

export interface ConfigFile {
  readonly path: string;
  /** The section as it was parsed. */
  readonly options: Readonly<Record<string, unknown>>;
}

const KEY = Symbol.for(`${PACKAGE_NAME}.config-file.v1`);
const holder = () => perThread(KEY, (): { file?: ConfigFile } => ({}));

export function putConfigFileInForce(file: ConfigFile): void {
  holder().file = file;
}

/** Undefined if the environment has the options. */
export function configFileInForce(): ConfigFile | undefined {
  return holder().file;
}
