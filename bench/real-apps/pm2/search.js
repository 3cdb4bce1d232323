const natural = require('natural');

const tokenizer = new natural.WordTokenizer();

exports.stem = function stem(text) {
  const stems = tokenizer.tokenize(text).map((word) => natural.PorterStemmer.stem(word));
  return { different: new Set(stems).size };
};

exports.rank = function rank() {
  const index = new natural.TfIdf();
  for (let i = 0; i < 250; i++)
    index.addDocument(
      `document ${i} is about ${['orders', 'returns', 'shipping'][i % 3]} and customer ${i % 17}`.repeat(
        3,
      ),
    );
  const scores = [];
  index.tfidfs('orders of customer', (i, score) => scores.push({ i, score }));
  return scores.sort((a, b) => b.score - a.score).slice(0, 3);
};
