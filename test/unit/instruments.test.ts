import { type Attributes, createNoopMeter, type Meter, ROOT_CONTEXT } from '@opentelemetry/api';
import { createInstruments } from '../../src/report/instruments.ts';
import type { EventLoopBlock } from '../../src/types.ts';

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

test('200 functions of the loop profile leave the names of blocks as they are, and are bounded', () => {
  const { instruments, names } = setUp();
  for (let i = 0; i < 200; i++) instruments.busy(1000, code(`f${i}`), {});
  instruments.block(block('renderReport'), ROOT_CONTEXT);
  instruments.suppressed(block('renderReport'), ROOT_CONTEXT);
  expect(names.get('event_loop.block.duration')).toEqual(['renderReport']);
  expect(names.get('event_loop.block.suppressed')).toEqual(['renderReport']);
  expect(new Set(names.get('event_loop.busy.samples')).size).toBe(101);
});

test('200 functions that block leave the names of the profile as they are, and are bounded', () => {
  const { instruments, names } = setUp();
  for (let i = 0; i < 200; i++) instruments.block(block(`f${i}`), ROOT_CONTEXT);
  instruments.busy(1000, code('renderReport'), {});
  expect(names.get('event_loop.busy.samples')).toEqual(['renderReport']);
  expect(new Set(names.get('event_loop.block.duration')).size).toBe(101);
});
