// A page as a picture, by headless Chromium: on the PATH or in CHROMIUM.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findChromium } from '../../tools/chromium.cjs';

export const PICTURES = join(import.meta.dirname, '../../docs/pictures');
/** What a page may take to ask its server and draw, in its own time. */
const DRAWN_MILLIS = 15_000;
const LIMIT_MILLIS = 120_000;
/** README and docs are to load quickly. */
const LARGEST_BYTES = 300 * 1024;

/**
 * @param {string} url
 * @param {string} file in docs/pictures
 * @param {{ width: number, height: number }} size
 */
export function screenshot(url, file, { width, height }) {
  const profile = mkdtempSync(join(tmpdir(), 'event-loop-chromium-'));
  const picture = join(PICTURES, file);
  try {
    execFileSync(
      findChromium(),
      [
        '--headless',
        '--no-sandbox', // it opens nothing but these pages, and in containers there is no other way
        '--disable-gpu',
        '--hide-scrollbars',
        `--user-data-dir=${profile}`,
        `--window-size=${width},${height}`,
        `--virtual-time-budget=${DRAWN_MILLIS}`,
        `--screenshot=${picture}`,
        url,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MILLIS },
    );
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  }
  const { size } = statSync(picture);
  if (size > LARGEST_BYTES) throw new Error(`${basename(picture)} has ${size} bytes`);
  process.stderr.write(`docs/pictures/${file}: ${Math.round(size / 1024)} KiB\n`);
}
