/** The parts of a changelog below headings of the second level. */
export function sectionsOf(/** @type {string} */ changelog) {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      return {
        title: title.trim(),
        text: `${lines.join('\n').trim()}\n`,
        // Headings and link targets say nothing.
        isEmpty: lines.every((line) => line.trim() === '' || /^(#|\[[^\]]+\]: )/.test(line)),
      };
    });
}
