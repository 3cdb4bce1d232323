import { EventEmitter, on } from 'node:events';

// Next.js bundles each route by itself.
globalThis.consumer ??= { uploads: new EventEmitter(), waiting: new Map() };
const shared = globalThis.consumer;

export function resizeImage(millis) {
  const until = process.cpuUsage().user + millis * 1000;
  let pixel = 0;
  while (process.cpuUsage().user < until)
    for (let i = 0; i < 20_000; i++) pixel = (pixel * 31 + i) % 65_537;
  return pixel;
}

/** Never ends: the first request starts it. */
async function consume() {
  for await (const [job] of on(shared.uploads, 'upload')) {
    globalThis.measureJob(job, resizeImage);
    shared.waiting.get(job.id)?.();
    shared.waiting.delete(job.id);
  }
}

export function start() {
  shared.consuming ??= consume();
}

export function ask(request) {
  const { searchParams } = new URL(request.url);
  const job = { id: searchParams.get('id'), millis: Number(searchParams.get('millis')) };
  // As what comes from elsewhere does.
  setTimeout(() => shared.uploads.emit('upload', job), 5);
  return new Promise((resolve) => shared.waiting.set(job.id, resolve));
}
