/** What each job does, and who waits for it. */
const waiting = new Map();

function resizeImage(millis) {
  const until = process.cpuUsage().user + millis * 1000;
  let pixel = 0;
  while (process.cpuUsage().user < until)
    for (let i = 0; i < 20_000; i++) pixel = (pixel * 31 + i) % 65_537;
  return pixel;
}

exports.run = (job) => {
  globalThis.measureJob(job, resizeImage);
  waiting.get(job.id)?.();
  waiting.delete(job.id);
};

/** Resolves as soon as the job has been run in this process. */
exports.done = ({ id }) => new Promise((resolve) => waiting.set(id, resolve));
