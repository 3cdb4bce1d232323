// `npm run check -- pictures`: makes the pictures of the report page in docs/pictures/ anew, with
// Chromium: the page of a run of the demo, in both themes.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from '../tools/chromium.cjs';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'demo/event-loop-report.html');
const viewport = { width: 1180, height: 1020 };

if (!existsSync(PAGE))
  execFileSync(process.execPath, [join(ROOT, 'demo/run.mjs')], { stdio: 'ignore' });
const browser = await chromium.launch({
  executablePath: findChromium(),
  // In containers there is no sandbox.
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ viewport, colorScheme });
    await page.goto(pathToFileURL(PAGE).href, { waitUntil: 'networkidle' });
    const path = join(ROOT, `docs/pictures/report-${colorScheme}.png`);
    await page.screenshot({ path });
    console.log(`${path}: ${Math.round(statSync(path).size / 1024)} KiB`);
  }
} finally {
  await browser.close();
}
