// Guarantees: the figures of `open-requests` as a small SVG, for a light and for a dark page.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [340, 230, 52, 40, 44];
const INSIDE = HEIGHT - TOP - BOTTOM;

/**
 * @typedef {{ open: number, cpu: { on: number, off: number }, p99: { on: number, off: number } }}
 *   Point microseconds, milliseconds
 */

/** @param {Point[]} points */
export function chart(points) {
  const panels = [
    panel(
      'CPU of a request, ms',
      points.map(({ open, cpu: { on, off } }) => ({ open, on: on / 1000, off: off / 1000 })),
      1,
    ),
    panel(
      'p99 minus the wait for the database, ms',
      points.map(({ open, p99: { on, off } }) => ({
        open,
        on: on - 4 * open,
        off: off - 4 * open,
      })),
      0,
    ),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH} ${HEIGHT}" role="img">
<title>CPU and p99 of a request with and without the package, by open requests</title>
<style>text{font:12px sans-serif;fill:#24292f}.t{font-weight:600}line{stroke:#d0d7de}polyline{fill:none;stroke-width:2}.on{stroke:#d1242f}.off{stroke:#0969da}circle.on{fill:#d1242f}circle.off{fill:#0969da}text.on{fill:#d1242f;stroke:none}text.off{fill:#0969da;stroke:none}@media(prefers-color-scheme:dark){text{fill:#e6edf3}line{stroke:#3d444d}}</style>
${panels.map((each, i) => `<g transform="translate(${i * WIDTH} 0)">\n${each}\n</g>`).join('\n')}
</svg>
`;
}

/** One chart with a line for each state; the axis begins at 0. */
function panel(
  /** @type {string} */ title,
  /** @type {{ open: number, on: number, off: number }[]} */ points,
  /** @type {number} */ digits,
) {
  const top = niceAbove(Math.max(...points.flatMap(({ on, off }) => [on, off])));
  const x = (/** @type {number} */ i) =>
    Math.round(LEFT + 30 + (i * (WIDTH - LEFT - 70)) / Math.max(1, points.length - 1));
  const y = (/** @type {number} */ value) => Math.round(TOP + INSIDE * (1 - value / top));
  const line = (/** @type {'on' | 'off'} */ state) => {
    const at = points.map((point, i) => `${x(i)},${y(point[state])}`);
    const dots = at.map((each) => {
      const [cx, cy] = each.split(',');
      return `<circle class="${state}" cx="${cx}" cy="${cy}" r="3"/>`;
    });
    return `<polyline class="${state}" points="${at.join(' ')}"/>${dots.join('')}`;
  };
  const grid = [0, top / 2, top].map(
    (value) =>
      `<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${y(value)}" y2="${y(value)}"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value.toFixed(digits)}</text>`,
  );
  const ticks = points.map(
    ({ open }, i) => `<text x="${x(i)}" y="${HEIGHT - 26}" text-anchor="middle">${open}</text>`,
  );
  const key = `<text class="on" x="${LEFT}" y="${HEIGHT - 8}">with the package</text><text class="off" x="${LEFT + 110}" y="${HEIGHT - 8}">without</text><text x="${WIDTH - 20}" y="${HEIGHT - 8}" text-anchor="end">open requests</text>`;
  return [
    `<text class="t" x="8" y="18">${title}</text>`,
    ...grid,
    line('off'),
    line('on'),
    ...ticks,
    key,
  ].join('\n');
}

/** The next of 1, 2, 4, 6, 8 and ten times that. */
function niceAbove(/** @type {number} */ value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 6, 8, 10].find((each) => each * unit >= value) ?? 10) * unit;
}

// node bench/open-requests/chart.mjs bench/results/open-requests.json > docs/pictures/overload.svg
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { tables } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  process.stdout.write(chart(tables[0].data));
}
