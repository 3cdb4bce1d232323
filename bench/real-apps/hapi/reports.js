const ExcelJS = require('exceljs');
const PDFDocument = require('pdfkit');

exports.exportWorkbook = async function exportWorkbook(orders) {
  const workbook = new ExcelJS.Workbook();
  const sheet = workbook.addWorksheet('Orders');
  sheet.columns = ['id', 'customer', 'email', 'total', 'placedAt'].map((key) => ({
    header: key,
    key,
    width: 20,
  }));
  for (const order of orders) sheet.addRow(order).getCell('total').numFmt = '#,##0.00';
  sheet.autoFilter = 'A1:E1';
  return Buffer.from(await workbook.xlsx.writeBuffer());
};

exports.printInvoices = async function printInvoices(orders) {
  const doc = new PDFDocument({ compress: false });
  const chunks = [];
  doc.on('data', (chunk) => chunks.push(chunk));
  const ended = new Promise((resolve) => doc.on('end', resolve));
  for (const order of orders) printInvoice(doc, order);
  doc.end();
  await ended;
  return Buffer.concat(chunks);
};

function printInvoice(doc, order) {
  doc.fontSize(14).text(`Invoice ${order.id} for ${order.customer}`);
  for (const line of order.lines)
    doc.fontSize(9).text(`${line.quantity} × ${line.text}: ${line.price}`);
  doc.moveDown();
}

exports.printLabels = async function printLabels(orders) {
  // Here, since most processes never print labels.
  const { PDFDocument: Labels, StandardFonts } = require('pdf-lib');
  const doc = await Labels.create();
  const font = await doc.embedFont(StandardFonts.Helvetica);
  let page;
  orders.forEach((order, i) => {
    if (i % 20 === 0) page = doc.addPage();
    page.drawText(`${order.customer}\n${order.email}`, {
      x: 30,
      y: 800 - (i % 20) * 38,
      size: 9,
      font,
    });
  });
  return Buffer.from(await doc.save());
};
