/** The option `recordFile`: each block that is reported becomes a line of JSON. */
import type { Extra } from '../extra.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import type { BlockReport } from '../report/emitter.ts';
import { fileOfThisThread } from '../support/files.ts';
import { appendLine } from './record-file.ts';
import { type RecordingOptions, toRecording } from './recording.ts';

const MAX_LINE_LENGTH = 256 << 10;

export const recording: Extra = {
  inSession({ config, origin, collections }) {
    const { recordFile, recordNames, inApp } = config;
    if (recordFile === undefined) return undefined;
    // Absolute: the application may change its working directory.
    const file = fileOfThisThread(recordFile);
    const options = { ...origin, inApp, hasNames: recordNames, collections };
    return {
      failure: 'cannot write to recordFile',
      emit: (report) => withoutTracing(() => appendLine(file, lineOf(report, options))),
    };
  },
};

/** Of a line that is too long, every second stack sample is left out, until it is not. */
export function lineOf(report: BlockReport, options: RecordingOptions, max = MAX_LINE_LENGTH) {
  let { samples } = report;
  for (;;) {
    const line = JSON.stringify(toRecording({ ...report, samples }, options));
    if (line.length <= max || samples.length === 0) return line;
    samples = samples.filter((_, i) => i % 2 === 1);
  }
}
