/** Which frames are of the function that a block is named by, and which are folded. */
import { isFrameOf } from '../../../src/html-report/browser/model.ts';
import { arranged, stacksOf } from '../../../src/html-report/browser/stacks.ts';
import { StackTree } from '../../../src/html-report/stack-tree.ts';

const place = {
  functionName: 'sortRows',
  file: '/app/a.js',
  line: 8,
  functionLine: 8,
  stackTrace: '',
};
const frame = (name: string, functionLine: number, file = '/app/a.js') => ({
  name,
  file,
  line: functionLine,
  functionLine,
});

test('a callback has the name of the function around it, and its frame has none', () => {
  expect(isFrameOf(place, frame('<anonymous>', 8))).toBe(true);
  expect(isFrameOf(place, frame('sortRows', 5))).toBe(true);
  expect(isFrameOf(place, frame('<anonymous>', 5))).toBe(false);
  expect(isFrameOf(place, frame('sortRows', 8, '/app/b.js'))).toBe(false);
  expect(isFrameOf({ ...place, functionName: '<anonymous>' }, frame('<anonymous>', 5))).toBe(false);
});

test.each([9, 10, 25])('%i frames of packages in a row', (length) => {
  const tree = new StackTree();
  const packages = Array.from({ length }, (_, i) =>
    frame(`f${i}`, i + 1, '/app/node_modules/p/p.js'),
  );
  const node = tree.add({ frames: [frame('own', 1), ...packages, frame('main', 9)] }) as number;
  const [stack] = stacksOf(tree.read(), [{ stacks: [node, 50] }]);
  if (stack === undefined) throw new Error('no stack');
  const how = { isAppOnly: false, isFolded: true, isInverted: false };
  const names = arranged(stack, how).frames.map(({ name }) => name);
  expect(names).toHaveLength(length < 10 ? length + 2 : 3);
  if (length >= 10) expect(names).toEqual(['main', `${length} frames of p`, 'own']);
});
