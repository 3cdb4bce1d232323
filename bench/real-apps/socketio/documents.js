const { writeFileSync } = require('node:fs');
const { readFile } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const DiffMatchPatch = require('diff-match-patch');
const Delta = require('quill-delta');

exports.messages = Array.from({ length: 30000 }, (_, i) => ({
  id: i,
  author: `user${i % 50}`,
  text: `Message ${i}, which says ${['hello', 'goodbye', 'thanks'][i % 3]} to user${i % 7}`,
  at: 1.7e12 + i,
}));

exports.read = async () => readFile(__filename, 'utf8');

exports.merge = function merge(before, after, current) {
  const dmp = new DiffMatchPatch();
  dmp.Diff_Timeout = 0;
  const patches = dmp.patch_make(before, after);
  const [text] = dmp.patch_apply(patches, before);
  return text.length + Math.sign(current.length);
};

exports.compose = function compose(count) {
  let document = new Delta().insert('start');
  for (let i = 0; i < count; i++)
    document = document.compose(new Delta().retain(i).insert(`${i % 10}`, { bold: i % 2 === 0 }));
  return document.length();
};

exports.snapshotLater = () => {
  setTimeout(writeSnapshot, 50);
};

function writeSnapshot() {
  const lines = exports.messages.map((message) =>
    JSON.stringify({ ...message, at: new Date(message.at).toISOString() }),
  );
  writeFileSync(join(tmpdir(), `socketio-${process.pid}.jsonl`), lines.join('\n'));
}
