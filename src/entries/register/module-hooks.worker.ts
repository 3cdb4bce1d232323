/**
 * Code of the thread of module hooks, on versions of Node.js that hook modules in one: the hooks of
 * import-in-the-middle, for the modules that instrumentations have asked for.
 */
import type { MessagePort } from 'node:worker_threads';
import { AskedModules } from './asked-modules.ts';

/** What the thread is started with. */
export interface ModuleHooksData {
  /** The file of import-in-the-middle that makes the hooks. */
  createHookUrl: string;
  port: MessagePort;
}

type Hook = (
  subject: string,
  context: object,
  next: (subject: string, context: object) => unknown,
) => unknown;

interface Hooks {
  applyOptions(options: object): void;
  load: Hook;
  resolve: Hook;
}

/** Undefined while its own file is loaded, for which the hooks below are called already. */
let hooks: Hooks | undefined;

export async function initialize({ createHookUrl, port }: ModuleHooksData): Promise<void> {
  const { createHook } = await import(createHookUrl);
  const created: Hooks = createHook({ url: createHookUrl });
  const asked = new AskedModules(port);
  created.applyOptions({ shouldInclude: asked.includes, include: asked.names() });
  hooks = created;
}

const callNext: Hook = (subject, context, next) => next(subject, context);
export const load: Hook = (...args) => (hooks?.load ?? callNext)(...args);
export const resolve: Hook = (...args) => (hooks?.resolve ?? callNext)(...args);
