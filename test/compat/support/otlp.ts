/** OTLP, as JSON over HTTP. */
import { OtlpReceiver } from '../../../tools/otlp-receiver.cjs';
import type { Receiver } from './receiver.ts';

export async function startOtlp(): Promise<Receiver> {
  const receiver = await OtlpReceiver.listen();
  return { env: receiver.env, spans: () => receiver.spans, close: () => receiver.close() };
}
