import { create } from 'jsondiffpatch';

const differ = create({ arrays: { detectMove: true } });

export const diffLists = (before, after) => {
  const delta = differ.diff(before, after);
  return { changes: Object.keys(delta ?? {}).length };
};
