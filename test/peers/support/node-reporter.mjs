// A line of JSON for each test that has ended, to where `--test-reporter-destination` says.
import { relative } from 'node:path';

export default async function* outcomes(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = isSkipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
    const file = data.file === undefined ? '' : `${relative(process.cwd(), data.file)}: `;
    const message = data.details?.error?.cause?.message ?? data.details?.error?.message;
    yield `${JSON.stringify({ name: `${file}${'> '.repeat(data.nesting)}${data.name}`, outcome, message })}\n`;
  }
}
