module.exports = {
  beforeCreate({ params }) {
    params.data.keywords = keywordsOf(params.data.text ?? '');
  },
};

/** The words that are used most. */
function keywordsOf(text) {
  const words = text.toLowerCase().split(/\W+/);
  const found = [];
  for (const word of words) {
    const known = found.find((each) => each.word === word);
    if (known) known.count++;
    else found.push({ word, count: 1 });
  }
  return found.sort((a, b) => b.count - a.count).slice(0, 10);
}
