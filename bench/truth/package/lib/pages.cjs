// @ts-nocheck: an application as there are many.
const cheerio = require('cheerio');
const { JSDOM } = require('jsdom');
const { XMLParser, XMLBuilder } = require('fast-xml-parser');
const { parseString } = require('xml2js');
const qs = require('qs');
const yaml = require('js-yaml');
const { html, orders, xml } = require('./data.cjs');

function linksOf(text) {
  const $ = cheerio.load(text);
  return $('a')
    .map((_, each) => $(each).attr('href'))
    .get();
}

function openPage(text) {
  const dom = new JSDOM(text);
  return dom.window.document.title;
}

const handlers = {
  feed: (text) => new XMLParser({ ignoreAttributes: false }).parse(text),
  sitemap(list) {
    return new XMLBuilder({ format: true }).build({ orders: { order: list } });
  },
};

function readInvoice(text) {
  let invoice;
  parseString(text, (_error, result) => {
    invoice = result;
  });
  return invoice;
}

function loadConfig(text) {
  return yaml.load(text);
}

function saveConfig(list) {
  const text = yaml.dump(list, { noRefs: true });
  return text.length;
}

function readFilter(text) {
  return qs.parse(text, { arrayLimit: 1e6, parameterLimit: 1e6, depth: 4 });
}

module.exports = {
  cheerio: { change: linksOf, size: 1000, make: html },
  jsdom: { change: openPage, size: 500, make: html },
  'fast-xml-parser': {
    change: handlers.feed,
    size: 3000,
    make: xml,
    run: (text) => handlers.feed(text),
  },
  'fast-xml-parser, builder': {
    change: handlers.sitemap,
    size: 5000,
    make: orders,
    run: (list) => handlers.sitemap(list),
  },
  xml2js: { change: readInvoice, size: 2000, make: xml },
  'js-yaml load': { change: loadConfig, size: 1000, make: (n) => yaml.dump(orders(n)) },
  'js-yaml dump': { change: saveConfig, size: 1000, make: orders },
  qs: {
    change: readFilter,
    size: 2000,
    make: (n) => qs.stringify({ filter: orders(n) }),
  },
};
