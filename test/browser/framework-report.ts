/** Two blocks: each below 30 frames of a framework, with 12 frames of a package at its end. */
import type { ReportDocument } from '../../src/outputs/html-report/document.ts';
import { ReportRecorder } from '../../src/outputs/html-report/recorder.ts';

const START = 1_790_000_000_000;

const frame = (name: string, file: string, line: number) => ({
  name,
  file,
  line,
  functionLine: line - 1,
});
const framesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    frame(`${name}${i}`, `/app/node_modules/${name}/index.js`, 10 * (i + 1)),
  );

export function frameworkReport(names = ['listOrders', 'printInvoice']): ReportDocument {
  const recorder = new ReportRecorder();
  for (const [i, name] of names.entries()) {
    const handler = frame(name, `/app/src/part-${i}.js`, 20);
    const frames = [
      ...framesOf('parser', 12),
      handler,
      ...framesOf('express', 30),
      frame('main', '/app/main.js', 3),
    ];
    const code = { functionName: name, file: handler.file, line: 20, column: 1, functionLine: 19 };
    const block = {
      startTimeMillis: START + 1000 * i,
      durationMillis: 200 + i,
      callbacks: 1,
      samples: 20,
      code: { ...code, stackTrace: '' },
    };
    recorder.block(block, {}, [
      { frames, millis: 150 },
      { frames: frames.slice(12), millis: 50 },
    ]);
  }
  const report = recorder.read();
  return { ...report, startTimeMillis: START - 100, endTimeMillis: START + 2000 };
}
