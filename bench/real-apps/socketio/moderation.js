const BAD = ['casino', 'viagra', 'lottery', 'winner', 'free money', 'click here', 'word9x'];

exports.isSpam = function isSpam(text) {
  const words = text.split(' ');
  return words.some((word, i) =>
    BAD.some(
      (bad) =>
        words
          .slice(Math.max(0, i - 5), i + 5)
          .join(' ')
          .includes(bad) && word.length > 50,
    ),
  );
};
