const cheerio = require('cheerio');
const { JSDOM } = require('jsdom');

exports.extractLinks = function extractLinks(html) {
  const { document } = new JSDOM(html).window;
  return [...document.querySelectorAll('div.card p > a[rel~=nofollow]')].map((a) => ({
    href: a.getAttribute('href'),
    text: a.textContent.trim(),
  }));
};

exports.summarize = function summarize(html) {
  const $ = cheerio.load(html);
  const cards = [];
  $('.card').each((i, element) => {
    cards.push({ title: $(element).find('h3').text(), link: $('a', element).attr('href') });
  });
  return { title: $('title').first().text(), cards: cards.length };
};
