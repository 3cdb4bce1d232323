// Guarantees: takes what dd-trace sends to its agent, on loopback, and says what its wall profile
// has for a time: the request and the function that most samples have.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import receivers from '../../tools/http-receiver.cjs';

const PROFILES = '/profiling/v1/input';
/** dd-trace sends a profile every 65 s. */
const LONGEST_WAIT_MILLIS = 80_000;
const POLL_MILLIS = 500;

const peer = createRequire(join(import.meta.dirname, 'package', 'package.json'));

/**
 * @typedef {{ at: number, rootSpanId?: string,
 *   frames: { name: string, file: string, line: number }[] }} Sample
 *   `at`: end of the sample, epoch milliseconds; innermost frame first
 */

export class DatadogReceiver extends receivers.HttpReceiver {
  static async listen() {
    return new DatadogReceiver().start();
  }

  /** The settings with which a process sends its profiles here, in a format that is read. */
  get env() {
    return { DD_TRACE_AGENT_URL: this.url, DD_PROFILING_DEBUG_UPLOAD_COMPRESSION: 'gzip' };
  }

  /**
   * One report for each block of which there are samples.
   * @param {any[]} truths
   */
  async reportsOf(truths) {
    const blocks = truths.filter(({ isBlock }) => isBlock);
    await this.until(Math.max(...blocks.map(({ end }) => end)));
    const samples = await this.samples();
    return blocks.flatMap(({ start, end }) => {
      const inside = samples.filter(({ at }) => at > start && at <= end);
      if (inside.length === 0) return [];
      return [
        {
          at: end,
          traceId: mostFrequent(inside.map(({ rootSpanId }) => rootSpanId)),
          functionName: mostFrequent(inside.map(({ frames }) => functionOf(frames))),
        },
      ];
    });
  }

  /** @returns {Promise<Sample[]>} of the main thread */
  async samples() {
    const profiles = this.bodies(PROFILES).map(wallProfile);
    return (await Promise.all(profiles)).flatMap(samplesOf);
  }

  /** Waits for the profile that has this time in it. */
  async until(/** @type {number} */ time) {
    const deadline = Date.now() + LONGEST_WAIT_MILLIS;
    while (Date.now() < deadline) {
      const latest = this.received.findLast(({ path }) => path === PROFILES);
      if (latest && Date.parse(await endOf(latest.body)) > time) return;
      await sleep(POLL_MILLIS);
    }
  }
}

/** A form: `event`, JSON about the profiles, and one file for each of them. */
function formOf(/** @type {Buffer} */ body) {
  const boundary = body.subarray(2, body.indexOf('\r\n')).toString();
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return new Response(new Uint8Array(body), { headers }).formData();
}

async function endOf(/** @type {Buffer} */ body) {
  const event = (await formOf(body)).get('event');
  return JSON.parse(typeof event === 'string' ? event : String(await event?.text())).end;
}

async function wallProfile(/** @type {Buffer} */ body) {
  const file = /** @type {Blob | null} */ ((await formOf(body)).get('wall.pprof'));
  const zipped = new Uint8Array((await file?.arrayBuffer()) ?? []);
  return peer('pprof-format').Profile.decode(gunzipSync(zipped));
}

/** @returns {Sample[]} */
function samplesOf(/** @type {any} */ profile) {
  const text = (/** @type {number | bigint} */ i) => profile.stringTable.strings[Number(i)];
  const byId = (/** @type {any[]} */ list) => new Map(list.map((each) => [each.id, each]));
  const [functions, locations] = [byId(profile.function), byId(profile.location)];
  const frameOf = (/** @type {unknown} */ id) => {
    const [{ functionId, line }] = locations.get(id).line;
    const called = functions.get(functionId);
    return { name: text(called.name), file: text(called.filename), line: Number(line) };
  };
  return profile.sample.flatMap((/** @type {any} */ { label, locationId }) => {
    const labels = Object.fromEntries(
      label.map((/** @type {any} */ { key, str, num }) => [text(key), str ? text(str) : num]),
    );
    if (labels['thread name'] !== 'Main Event Loop') return [];
    return [
      {
        at: Number(labels.end_timestamp_ns) / 1e6,
        rootSpanId: String(labels['local root span id'] ?? ''),
        frames: locationId.map(frameOf),
      },
    ];
  });
}

/** The innermost of the application's own that has a name. */
function functionOf(/** @type {Sample['frames']} */ frames) {
  return frames.find(
    ({ name, file }) =>
      file.startsWith('/') && !file.includes('/node_modules/') && !name.startsWith('(anonymous'),
  )?.name;
}

/** @returns {string | undefined} */
function mostFrequent(/** @type {(string | undefined)[]} */ values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}
