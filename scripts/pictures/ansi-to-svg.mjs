// Terminal output as an SVG that is the same everywhere: a terminal emulator says what is in every
// cell, text is pinned to its cells, and bars are drawn as shapes, so that no font can tear them
// apart.
import xterm from '@xterm/headless';

const CELL = { width: 8.4, height: 19 };
const FONT_SIZE = 14;
const BASELINE = 14; // of the text, from the top of its cell
const MARGIN = { x: 18, top: 52, bottom: 18 };
const COLORS = { background: '#0d1117', frame: '#30363d', text: '#e6edf3', title: '#8b949e' };
const FONTS =
  "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

const THIN = '━';
const SOLID = '▏▎▍▌▋▊▉█'; // eighths of a cell from the left
// eighths of a cell from the bottom; a full cell is one where its line has others of these
const COLUMN = '▁▂▃▄▅▆▇█';

/**
 * @param {string} output with ANSI codes; colours as true colour (FORCE_COLOR=3)
 * @param {{ title: string, description: string }} options
 * @returns {Promise<string>}
 */
export async function ansiToSvg(output, { title, description }) {
  const lines = await readCells(output);
  const columns = Math.max(...lines.map((cells) => cells.length));
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN.x);
  const height = Math.ceil(lines.length * CELL.height + MARGIN.top + MARGIN.bottom);
  const body = lines.flatMap((cells, row) => runsOf(cells).map((run) => drawRun(run, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${xml(description)}">
<title>${xml(description)}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${COLORS.background}" stroke="${COLORS.frame}"/>
${['#ff5f57', '#febc2e', '#28c840'].map((color, i) => `<circle cx="${24 + 20 * i}" cy="22" r="6" fill="${color}"/>`).join('')}
<g font-family="${FONTS}" font-size="${FONT_SIZE}" fill="${COLORS.text}" xml:space="preserve" shape-rendering="crispEdges">
<text x="${width / 2}" y="27" text-anchor="middle" fill="${COLORS.title}">${xml(title)}</text>
${body.join('\n')}
</g>
</svg>
`;
}

/**
 * @returns {Promise<{ glyph: string, color: string, bold: boolean, underline: boolean }[][]>}
 *   without trailing blanks
 */
async function readCells(output) {
  const lines = output.split('\n');
  const terminal = new xterm.Terminal({
    cols: 240,
    rows: lines.length,
    allowProposedApi: true,
    convertEol: true,
  });
  await new Promise((resolve) => terminal.write(output, resolve));
  return lines.map((_, row) => {
    const line = terminal.buffer.active.getLine(row);
    const length = line.translateToString(true).length;
    return Array.from({ length }, (_, column) => {
      const cell = line.getCell(column);
      return {
        glyph: cell.getChars() || ' ',
        color: cell.isFgRGB() ? `#${cell.getFgColor().toString(16).padStart(6, '0')}` : COLORS.text,
        bold: Boolean(cell.isBold()),
        underline: Boolean(cell.isUnderline()),
      };
    });
  });
}

/** Neighbours that are drawn as one: words of one style, or bars of one kind and style. */
function runsOf(cells) {
  const runs = [];
  const hasColumns = cells.some(({ glyph }) => glyph !== '█' && COLUMN.includes(glyph));
  for (const [column, { glyph, ...style }] of cells.entries()) {
    const kind = kindOf(glyph, hasColumns);
    const last = runs.at(-1);
    if (last && last.kind === kind && sameStyle(last, style)) last.text += glyph;
    else runs.push({ ...style, kind, column, text: glyph });
  }
  return runs;
}

function kindOf(glyph, hasColumns) {
  if (glyph === ' ') return 'blank';
  if (glyph === THIN) return 'thin';
  if (hasColumns && COLUMN.includes(glyph)) return 'columns';
  return SOLID.includes(glyph) ? 'solid' : 'words';
}

const sameStyle = (a, b) => a.color === b.color && a.bold === b.bold && a.underline === b.underline;

function drawRun(run, row) {
  const at = { x: MARGIN.x + run.column * CELL.width, y: MARGIN.top + row * CELL.height };
  return DRAW[run.kind](run, at);
}

const DRAW = {
  blank: () => '',
  words({ text, color, bold, underline }, { x, y }) {
    const style = `${bold ? ' font-weight="bold"' : ''}${underline ? ' text-decoration="underline"' : ''}`;
    const length = text.length * CELL.width;
    return `<text x="${short(x)}" y="${short(y + BASELINE)}" textLength="${short(length)}" lengthAdjust="spacingAndGlyphs" fill="${color}"${style}>${xml(text)}</text>`;
  },
  thin: ({ text, color }, { x, y }) => rectangle(x, y + 8.5, text.length * CELL.width, 2.5, color),
  solid({ text, color }, { x, y }) {
    const eighths = Array.from(text, (glyph) => SOLID.indexOf(glyph) + 1).reduce(
      (sum, part) => sum + part,
      0,
    );
    return rectangle(x, y + 2.5, (eighths / 8) * CELL.width, CELL.height - 5, color);
  },
  columns: ({ text, color }, { x, y }) =>
    Array.from(text, (glyph, i) => {
      const height = ((COLUMN.indexOf(glyph) + 1) / 8) * CELL.height;
      return rectangle(x + i * CELL.width, y + CELL.height - height, CELL.width, height, color);
    }).join(''),
};

const rectangle = (x, y, width, height, color) =>
  `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${color}"/>`;

const short = (number) => Number(number.toFixed(2));
const xml = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
