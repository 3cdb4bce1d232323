import { ROOT_CONTEXT, type Span } from '@opentelemetry/api';
import { MAX_OPEN_SPANS, OpenSpans } from '../../src/stall/open-spans.ts';

test('nearly as many open spans as are remembered: a new one does not cause a sweep', () => {
  const STARTED = 10_000;
  let reads = 0;
  const start = () => {
    let open = true;
    return {
      end: () => {
        open = false;
      },
      isRecording: () => {
        reads++;
        return open;
      },
    };
  };
  const spans = new OpenSpans();
  const open = Array.from({ length: MAX_OPEN_SPANS - 1 }, start);
  for (const span of open) spans.add(span as unknown as Span, ROOT_CONTEXT);
  reads = 0;
  for (let i = 0; i < STARTED; i++) {
    const slot = i % open.length;
    open[slot]?.end();
    open[slot] = start();
    spans.add(open[slot] as unknown as Span, ROOT_CONTEXT);
  }
  expect(reads / STARTED).toBeLessThan(10);
});
