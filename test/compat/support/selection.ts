/** What run.mjs has chosen and installed, handed to the tests in an environment variable. */

type TestFile = 'services' | 'types' | 'loaders' | 'runners';

/** See `subjects.mjs`. */
export interface Subject {
  name: string;
  app: string;
  packages: string[];
  nodeArgs?: string[];
  preload?: boolean;
  env?: Record<string, string>;
  metrics?: boolean;
  test?: TestFile;
  wire?: 'otlp' | 'sentry' | 'datadog';
  build?: string;
  reported?: string;
  minified?: boolean;
  compared?: boolean;
  graphql?: boolean;
  asynchronous?: boolean;
  aroundMillis?: number;
}

export interface Selected {
  subject: Subject;
  /** Where its group is installed. */
  folder: string;
  /** The Node.js to run it on. */
  node: string;
  /** There is little time. */
  quick: boolean;
  /** Why it cannot run. */
  problem?: string;
}

export function selectedFor(test: TestFile): Selected[] {
  const all: Selected[] = JSON.parse(process.env['COMPAT_SELECTED'] ?? '[]');
  return all.filter(({ subject }) => (subject.test ?? 'services') === test);
}
