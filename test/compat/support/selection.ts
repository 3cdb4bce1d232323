/** What run.mjs has chosen and installed, handed to the tests in an environment variable. */

import type { Subject } from '../subjects.mjs';

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

export function selectedFor(test: NonNullable<Subject['test']>): Selected[] {
  const all: Selected[] = JSON.parse(process.env['COMPAT_SELECTED'] ?? '[]');
  return all.filter(({ subject }) => (subject.test ?? 'services') === test);
}
