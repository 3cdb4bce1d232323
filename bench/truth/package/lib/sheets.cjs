// @ts-nocheck: an application as there are many.
const ExcelJS = require('exceljs');
const XLSX = require('xlsx');
const Papa = require('papaparse');
const { parse } = require('csv-parse/sync');
const { csv, orders } = require('./data.cjs');

const flat = (n) =>
  orders(n).map(({ id, customer, email, placed }) => ({ id, customer, email, placed }));

class Export {
  constructor(rows) {
    this.rows = rows;
  }
  fillSheet() {
    const sheet = new ExcelJS.Workbook().addWorksheet('orders');
    sheet.columns = Object.keys(this.rows[0]).map((key) => ({ header: key, key, width: 20 }));
    for (const row of this.rows) sheet.addRow(row).commit();
    return sheet.rowCount;
  }
}

function writeBook(rows) {
  const book = XLSX.utils.book_new();
  const sheet = XLSX.utils.json_to_sheet(rows.slice(0, 10));
  XLSX.utils.book_append_sheet(book, sheet, 'first');
  XLSX.utils.book_append_sheet(book, XLSX.utils.json_to_sheet(rows), 'orders');
  return XLSX.write(book, { type: 'buffer', bookType: 'xlsx' });
}

function readBook(buffer) {
  const book = XLSX.read(buffer);
  return book.SheetNames.length;
}

function importCsv(text) {
  const { data } = Papa.parse(text, { header: true });
  return data.length;
}

const importFeed = (text) => parse(text, { relax_column_count: true });

const exportCsv = (rows) => {
  return Papa.unparse(rows);
};

module.exports = {
  exceljs: {
    change: { name: 'Export.fillSheet' },
    size: 3000,
    make: (n) => new Export(flat(n)),
    run: (each) => each.fillSheet(),
  },
  'xlsx write': { change: writeBook, size: 2000, make: flat },
  'xlsx read': { change: readBook, size: 2000, make: (n) => writeBook(flat(n)) },
  papaparse: { change: importCsv, size: 20_000, make: csv },
  'papaparse unparse': { change: exportCsv, size: 30_000, make: flat },
  'csv-parse': { change: importFeed, size: 5000, make: csv },
};
