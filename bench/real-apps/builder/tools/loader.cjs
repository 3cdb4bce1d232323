/** Adds the number of each line, of which duplicates are left out. */
module.exports = function loader(source) {
  const lines = source.split('\n');
  const numbered = lines.map(
    (line, i) =>
      `${line} // ${lines.filter((other) => other.replace(/\d+/g, '') === line.replace(/\d+/g, '')).length} ${i}`,
  );
  return numbered.join('\n');
};
