const { readFile } = require('node:fs/promises');
const Fuse = require('fuse.js');
const data = require('./data');

let index;

exports.search = async (text) => {
  const stopWords = await readFile(__filename, 'utf8');
  index ??= new Fuse(data.products, { keys: ['name', 'tags'], threshold: 0.4 });
  return index
    .search(text)
    .filter(({ item }) => !stopWords.includes(item.name))
    .slice(0, 10)
    .map(({ item }) => item);
};
