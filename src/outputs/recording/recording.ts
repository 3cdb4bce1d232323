/** The option `recordFile`: each block that is reported becomes a line of JSON. */
import { BLOCK_CHANNEL, type BlockMessage } from '../../channels.ts';
import { withoutTracing } from '../../otel/sdk-internals.ts';
import { fileOfThisThread } from '../../support/files.ts';
import { follow, type Output } from '../output.ts';
import { appendLine } from './record-file.ts';

const MAX_LINE_LENGTH = 256 << 10;

export const recording: Output = ({ config, log }) => {
  const { recordFile, recordNames: names } = config;
  if (recordFile === undefined) return undefined;
  // Absolute: the application may change its working directory.
  const file = fileOfThisThread(recordFile);
  const stop = follow<BlockMessage>(
    BLOCK_CHANNEL,
    (message) => withoutTracing(() => appendLine(file, lineOf(message, names))),
    (error) => log.later.log('error', 'cannot write to recordFile', error),
  );
  return { stop };
};

/** Of a line that is too long, every second stack sample is left out, until it is not. */
export function lineOf(
  message: Pick<BlockMessage, 'block' | 'evidence'>,
  names: boolean,
  max = MAX_LINE_LENGTH,
): string {
  for (let every = 1; ; every *= 2) {
    const line = JSON.stringify(message.evidence({ names, every }));
    if (line.length <= max || every > message.block.samples) return line;
  }
}
