const XLSX = require('xlsx');
const { XMLParser } = require('fast-xml-parser');
const { parse } = require('csv-parse/sync');

exports.readWorkbook = (payload) => {
  const workbook = XLSX.read(payload, { type: 'buffer' });
  const rows = XLSX.utils.sheet_to_json(workbook.Sheets[workbook.SheetNames[0]]);
  return { rows: rows.length };
};

exports.readFeed = (payload) => {
  const parser = new XMLParser({ ignoreAttributes: false });
  const { feed } = parser.parse(payload.toString());
  return { items: feed.item.length };
};

exports.readCsv = function readCsv(payload) {
  return parse(payload, { columns: true, cast: true, skip_empty_lines: true });
};
