// @ts-nocheck: an application as there are many.
const acorn = require('acorn');
const babel = require('@babel/core');
const PDFDocument = require('pdfkit');
const postcss = require('postcss');
const { PDFDocument: Pdf, StandardFonts } = require('pdf-lib');
const sucrase = require('sucrase');
const ts = require('typescript');
const uglify = require('uglify-js');
const { code, orders, script } = require('./data.cjs');

function compile(text) {
  return ts.transpileModule(text, { compilerOptions: { module: 'commonjs' } }).outputText;
}

function stripTypes(text) {
  const { code: plain } = sucrase.transform(text, { transforms: ['typescript', 'imports'] });
  return plain.length;
}

const minify = (text) => uglify.minify(text, { compress: false });

function countFunctions(text) {
  const { body } = acorn.parse(text, { ecmaVersion: 2022 });
  return body.length;
}

function transform(text) {
  return babel.transformSync(text, { configFile: false, babelrc: false, plugins: [renameSums] });
}
const renameSums = () => ({
  visitor: {
    Identifier(path) {
      if (path.node.name === 'sum') path.node.name = 'total';
    },
  },
});

function prefixStyles(text) {
  return postcss([addPrefix]).process(text, { from: undefined }).css;
}
const addPrefix = {
  postcssPlugin: 'add-prefix',
  Declaration(declaration) {
    if (declaration.prop === 'transform') declaration.cloneBefore({ prop: '-webkit-transform' });
  },
};
const css = (n) =>
  Array.from({ length: n }, (_, i) => `.a${i} > b { color: red; transform: rotate(${i}deg) }`).join(
    '\n',
  );

class Invoices {
  print(list) {
    const document = new PDFDocument();
    for (const { id, customer, address } of list) {
      document.text(`Order ${id} of ${customer}, ${address.street}, ${address.city}`);
    }
    document.end();
    return document.bufferedPageRange().count;
  }
}
const invoices = new Invoices();

async function fillForm(list) {
  const document = await Pdf.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const { customer } of list) {
    const page = document.addPage();
    for (let y = 0; y < 20; y++) page.drawText(customer, { x: 50, y: y * 20, font, maxWidth: 200 });
  }
  return document.getPageCount();
}

module.exports = {
  'typescript transpileModule': { change: compile, size: 150, make: code },
  sucrase: { change: stripTypes, size: 1500, make: code },
  'uglify-js': { change: minify, size: 1000, make: script },
  acorn: { change: countFunctions, size: 10_000, make: script },
  '@babel/core': { change: transform, size: 300, make: script },
  postcss: { change: prefixStyles, size: 2000, make: css },
  pdfkit: {
    change: { name: 'Invoices.print' },
    size: 200,
    make: orders,
    run: (list) => invoices.print(list),
  },
  'pdf-lib': { change: fillForm, size: 50, make: orders, asynchronous: true },
};
