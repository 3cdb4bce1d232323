/** The source maps that only a loader has: it is asked as V8 would ask it. */
import { positionsByLoader } from '../../../src/core/explain/source-maps/loader-maps.ts';

const { prepareStackTrace } = Error;
const FILE = '/app/src/app.ts';
const asked = Array.from({ length: 20 }, (_, i) => ({ file: FILE, line: i + 1, column: 1 }));

afterEach(() => {
  Error.prepareStackTrace = prepareStackTrace as NonNullable<typeof Error.prepareStackTrace>;
});

const linesBy = (prepare: typeof Error.prepareStackTrace) => {
  Error.prepareStackTrace = prepare as NonNullable<typeof Error.prepareStackTrace>;
  return positionsByLoader(asked).map((found) => found?.line);
};

test('the loader is asked once for all positions', () => {
  const prepare = jest.fn(
    (_error: unknown, sites: NodeJS.CallSite[]) =>
      `Error${sites.map((site) => `\n    at f (${site.getFileName()}:${(site.getLineNumber() ?? 0) + 20}:3)`).join('')}`,
  );
  expect(linesBy(prepare)).toEqual(asked.map(({ line }) => line + 20));
  expect(prepare).toHaveBeenCalledTimes(1);
});

test.each<[string, typeof Error.prepareStackTrace]>([
  [
    'has no map of it',
    (_error, sites) => `Error${sites.map((site) => `\n    at ${site}`).join('')}`,
  ],
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['answers with something else', (_error, sites) => sites],
  ['answers with fewer lines', () => 'Error'],
])('a loader that %s knows no position', (_what, prepare) => {
  expect(linesBy(prepare)).toEqual(asked.map(() => undefined));
});
