import { type Attributes, createNoopMeter, type Meter, ROOT_CONTEXT } from '@opentelemetry/api';
import { createInstruments } from '../../src/core/emit/instruments.ts';
import type { EventLoopBlock } from '../../src/types.ts';
import { functionWait } from './support/request-message.ts';

/** Records the function names of each instrument. */
function setUp() {
  const names = new Map<string, unknown[]>();
  const note = (instrument: string) => (_value: number, attributes?: Attributes) =>
    void names.set(instrument, [
      ...(names.get(instrument) ?? []),
      attributes?.['code.function.name'],
    ]);
  const meter = Object.assign(createNoopMeter(), {
    createHistogram: (name: string) => ({ record: note(name) }),
    createCounter: (name: string) => ({ add: note(name) }),
  }) as unknown as Meter;
  return { instruments: createInstruments(meter), names };
}

const code = (functionName: string) => ({ functionName, stackTrace: '' });
const block = (functionName: string): EventLoopBlock => ({
  startTimeMillis: 0,
  durationMillis: 100,
  callbacks: 1,
  samples: 1,
  code: code(functionName),
});

test('what functions stalled is bounded by function and by route, and adds up', () => {
  const added: { value: number; attributes: Attributes }[] = [];
  const add = (value: number, attributes: Attributes) => void added.push({ value, attributes });
  const meter = Object.assign(createNoopMeter(), {
    createCounter: (name: string) =>
      name === 'event_loop.stall.caused' ? { add } : { add: () => {} },
  }) as unknown as Meter;
  const instruments = createInstruments(meter);
  const series = (names: readonly string[]) =>
    new Set(added.map(({ attributes }) => names.map((name) => attributes[name]).join())).size;
  for (let i = 0; i < 200; i++) {
    for (let j = 0; j < 200; j++) {
      const operation = { httpRoute: `/${j}`, name: `GET /${j}` };
      instruments.stallCaused(
        [functionWait({ code: code(`f${i}`), stalledMillis: 10 })],
        operation,
      );
    }
  }
  expect(series(['code.function.name'])).toBe(101);
  expect(series(['http.route'])).toBe(101);
  // 1000 pairs, and each function with all other routes.
  expect(series(['code.function.name', 'http.route'])).toBeLessThanOrEqual(1000 + 101);
  expect(series(['event_loop.stall.operation'])).toBe(1);
  const ofFirst = added.filter(({ attributes }) => attributes['code.function.name'] === 'f0');
  expect(ofFirst.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(2, 6);
  expect(added.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(400, 6);
});

test('the functions that stalled have the names that the same ones have as blocks', () => {
  const { instruments, names } = setUp();
  for (let i = 0; i < 200; i++) instruments.block(block(`f${i}`), ROOT_CONTEXT);
  instruments.stallCaused(
    [code('f0'), code('f150'), undefined].map((each) =>
      functionWait({ ...(each && { code: each }), stalledMillis: 10 }),
    ),
    { name: 'orders process' },
  );
  expect(names.get('event_loop.stall.caused')).toEqual(['f0', '_other', undefined]);
});
