const uploads = [];
const waiting = new Map();
let timer;

export function resizeImage(millis) {
  const until = process.cpuUsage().user + millis * 1000;
  let pixel = 0;
  while (process.cpuUsage().user < until)
    for (let i = 0; i < 20_000; i++) pixel = (pixel * 31 + i) % 65_537;
  return pixel;
}

function poll() {
  const job = uploads.shift();
  if (job !== undefined) {
    globalThis.measureJob(job, resizeImage);
    waiting.get(job.id)?.();
    waiting.delete(job.id);
  }
  timer = setTimeout(poll, 10);
}

/** Ends with the server: the first request starts it. */
export function start() {
  if (timer !== undefined) return;
  poll();
  process.once('sveltekit:shutdown', () => clearTimeout(timer));
}

export function ask({ searchParams }) {
  const job = { id: searchParams.get('id'), millis: Number(searchParams.get('millis')) };
  uploads.push(job);
  return new Promise((resolve) => waiting.set(job.id, resolve));
}
