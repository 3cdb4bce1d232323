import { ROOT_CONTEXT, type Span } from '@opentelemetry/api';
import { MAX_OPEN_SPANS, OpenSpans } from '../../src/stall/open-spans.ts';

test('nearly as many open spans as are remembered: a new one does not make it look at all of them', () => {
  const STARTED = 10_000;
  let looks = 0;
  const start = () => {
    let open = true;
    return {
      end: () => {
        open = false;
      },
      isRecording: () => {
        looks++;
        return open;
      },
    };
  };
  const spans = new OpenSpans();
  const open = Array.from({ length: MAX_OPEN_SPANS - 1 }, start);
  for (const span of open) spans.add(span as unknown as Span, ROOT_CONTEXT);
  looks = 0;
  for (let i = 0; i < STARTED; i++) {
    const slot = i % open.length;
    open[slot]?.end();
    open[slot] = start();
    spans.add(open[slot] as unknown as Span, ROOT_CONTEXT);
  }
  expect(looks / STARTED).toBeLessThan(10);
});
