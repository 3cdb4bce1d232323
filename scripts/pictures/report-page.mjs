// The report page of a run of the demo, in both themes. Uses demo/event-loop-report.html if the
// demo has run.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from '../../tools/chromium.cjs';
import { PICTURES } from './chromium.mjs';

const DEMO = fileURLToPath(new URL('../../demo/run.mjs', import.meta.url));
const PAGE = fileURLToPath(new URL('../../demo/event-loop-report.html', import.meta.url));
const SIZE = { width: 1180, height: 1020 };

/** docs/pictures/report-light.png and report-dark.png */
export async function picturesOfReportPage() {
  if (!existsSync(PAGE)) execFileSync(process.execPath, [DEMO], { stdio: 'ignore' });
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: SIZE, colorScheme });
      await page.goto(pathToFileURL(PAGE).href);
      const file = join(PICTURES, `report-${colorScheme}.png`);
      await page.screenshot({ path: file });
      const size = Math.round(statSync(file).size / 1024);
      process.stderr.write(`docs/pictures/report-${colorScheme}.png: ${size} KiB\n`);
    }
  } finally {
    await browser.close();
  }
}
