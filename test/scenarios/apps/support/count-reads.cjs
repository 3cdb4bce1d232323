/**
 * Preloaded: how much this thread reads of each file, from `startCounting` on. The package takes
 * functions of `fs` once; the loaders of Node.js have read the files of the app by then.
 */
const fs = require('node:fs');

/** Bytes by file. */
let counts;
const opened = new Map();
const add = (file, bytes) => {
  if (counts !== undefined && file !== undefined) counts[file] = (counts[file] ?? 0) + bytes;
};
const { openSync, readFileSync, readSync } = fs;

fs.openSync = (file, ...rest) => {
  const descriptor = openSync(file, ...rest);
  opened.set(descriptor, String(file));
  return descriptor;
};
fs.readSync = (descriptor, ...rest) => {
  const bytes = readSync(descriptor, ...rest);
  add(opened.get(descriptor), bytes);
  return bytes;
};
fs.readFileSync = (file, ...rest) => {
  const content = readFileSync(file, ...rest);
  add(String(file), content.length);
  return content;
};

exports.startCounting = () => {
  counts = {};
};
exports.readSince = () => counts;
