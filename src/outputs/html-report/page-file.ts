/**
 * The page as a file. Its code is in a file of its own beside the package's, which is read only
 * here. Guarantees: nothing in the data ends the script that it stands in.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { captureStack } from '../../core/sample/stack.ts';
import { packageOrigins } from '../../support/application-packages.ts';
import { jsonInHtml } from '../../support/escape.ts';
import { toPath } from '../../support/file-url.ts';
import { writeFile } from '../../support/files.ts';
import { attempt } from '../../support/guard.ts';
import { PACKAGE_NAME } from '../../version.ts';
import type { ReportDocument } from './document.ts';

// Taken once: spans are made of these by `@opentelemetry/instrumentation-fs`.
const { existsSync, readFileSync } = fs;

const PAGE_FILE = 'report-page.html';
/** What the page has in the place of the data. */
const PLACEHOLDER = '"__EVENT_LOOP_REPORT__"';

/**
 * @param pageFile the page's code, if it is not beside this package's
 * @throws what the file system says, or that the page's code is not found
 */
export function writePage(path: string, report: ReportDocument, pageFile?: string): void {
  writeFile(path, fillPage(readPage(pageFile), report));
}

export function fillPage(page: string, report: ReportDocument): string {
  const [before, after] = page.split(PLACEHOLDER) as [string, string];
  return `${before}${jsonInHtml(report)}${after}`;
}

function readPage(given: string | undefined): string {
  const files = given === undefined ? possiblePageFiles() : [given];
  const file = files.find((each) => existsSync(each));
  if (file !== undefined) return readFileSync(file, 'utf8');
  throw new Error(
    `${PAGE_FILE} of ${PACKAGE_NAME} is not found: a bundler has to leave the package out ` +
      'of the bundle, or this file has to be copied beside it',
  );
}

/**
 * The likeliest first. `import.meta` does not say it: bundlers that make CommonJS have none, and
 * warn of it.
 */
function possiblePageFiles(): string[] {
  const own = captureStack().find(({ isOwn }) => isOwn)?.file;
  const entries = packageOrigins().map((origin) =>
    attempt(() => createRequire(origin).resolve(PACKAGE_NAME)),
  );
  return [own && toPath(own), ...entries]
    .filter((file) => file !== undefined)
    .map((file) => join(dirname(file), PAGE_FILE));
}
