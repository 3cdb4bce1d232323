// biome-ignore-all format: its lines are what is tested
// The default transforms move lines: they write objects and statements on lines of their own.
const cells = [{ id: 1, text: 'one' }, { id: 2, text: 'two' }, { id: 3, text: 'three', wide: true }];
const widths = { narrow: 80, wide: 120, of: (cell) => { return cell.wide ? 120 : 80; } };
if (cells.length > 3) { cells.pop(); widths.wide = 100; }

function hashRow(millis) { const end = performance.now() + millis; let hash = 0;
  while (performance.now() < end) { // BLOCKS
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, widths.of(cells[i % 3])); // BLOCKS
  } // BLOCKS
  return hash;
}

module.exports = { hashRow };
