import { folded, stacksOf } from '../../../page/stacks.ts';
import { StackTree } from '../../../src/outputs/html-report/stack-tree.ts';

const frame = (name: string, functionLine: number, file = '/app/a.js') => ({
  name,
  file,
  line: functionLine,
  functionLine,
});

test.each([9, 10, 25])('%i frames of packages in a row', (length) => {
  const tree = new StackTree();
  const packages = Array.from({ length }, (_, i) =>
    frame(`f${i}`, i + 1, '/app/node_modules/p/p.js'),
  );
  const node = tree.add({ frames: [frame('own', 1), ...packages, frame('main', 9)] }) as number;
  const [stack] = stacksOf(tree.read(), [{ stacks: [node, 50] }]);
  if (stack === undefined) throw new Error('no stack');
  const names = folded(stack).frames.map(({ name }) => name);
  expect(names).toHaveLength(length < 10 ? length + 2 : 3);
  if (length >= 10) expect(names).toEqual(['main', `${length} frames of p`, 'own']);
});
