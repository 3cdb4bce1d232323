// biome-ignore-all format: its lines are what is tested
// Imports become code of several lines; what follows moves.
import { createHash } from 'node:crypto'; import { format } from 'node:util';

const widths = { narrow: 80, wide: 120, of: (cell) => { return cell.wide ? 120 : 80; } };

export function hashRow(millis) { const end = performance.now() + millis; let hash = 0;
  while (performance.now() < end) { // BLOCKS
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, widths.of({ wide: i % 3 })); // BLOCKS
  } // BLOCKS
  return format('%s %s', createHash('sha1').update(`${hash}`).digest('hex'), hash);
}
