/**
 * `node:sqlite`, whose calls take as long as their statements. Guarantees: it is wrapped when the
 * application has loaded it, and never loaded for that: Node.js prints a warning then.
 */
import type { BuiltIn } from './built-ins.ts';
import { SLOW, type Wrap, wrapToTell } from './wrappers.ts';

const LOADED = 'NativeModule sqlite';

interface NodeProcess {
  /** The modules of Node.js that it has loaded, in this order. */
  readonly moduleLoadList?: readonly string[];
  getBuiltinModule?(
    id: string,
  ): { [Class in 'DatabaseSync' | 'StatementSync']?: { readonly prototype: object } } | undefined;
}

/** How many entries of the list were searched: Node.js only adds to it. */
let searched = 0;
let isLoaded = false;

function isSqliteLoaded(): boolean {
  const { moduleLoadList = [] } = process as NodeProcess;
  for (; !isLoaded && searched < moduleLoadList.length; searched++)
    isLoaded = moduleLoadList[searched] === LOADED;
  return isLoaded;
}

/**
 * What is wrapped of it, once it is loaded; undefined before.
 * @param found called with what is known only when a statement iterates
 */
export function sqliteFunctions(found: (more: BuiltIn[]) => void): BuiltIn[] | undefined {
  if (!isSqliteLoaded()) return undefined;
  const sqlite = (process as NodeProcess).getBuiltinModule?.('node:sqlite');
  const statement = sqlite?.StatementSync?.prototype;
  const database = sqlite?.DatabaseSync?.prototype;
  if (statement === undefined || database === undefined) return [];
  // What iterates, too: the first row may take as long as all of them.
  const name = 'node:sqlite.Statement.iterate';
  const iterate = wrapToTell((rows) =>
    found([{ holder: Object.getPrototypeOf(rows), key: 'next', name, wrap: SLOW }]),
  );
  return [
    ...['get', 'all', 'run'].map((key) => functionOf(statement, 'Statement', key, SLOW)),
    functionOf(statement, 'Statement', 'iterate', iterate),
    ...['exec', 'serialize', 'deserialize'].map((key) =>
      functionOf(database, 'Database', key, SLOW),
    ),
  ];
}

function functionOf(holder: object, type: string, key: string, wrap: Wrap): BuiltIn {
  return { holder, key, name: `node:sqlite.${type}.${key}`, wrap };
}
