/** When it is recorded for how long entry spans were stalled. */
import { StallDurations } from '../../src/core/stalls/stall-durations.ts';
import { Guard } from '../../src/support/guard.ts';

function setUp(stall: (millis: number) => void) {
  const logged: string[] = [];
  const guard = new Guard({ log: (_level, message) => void logged.push(message) });
  const instruments = { stall } as never;
  return { durations: new StallDurations({ guard, instruments: () => instruments }), logged };
}

test('a stall is recorded at once; those that were none together, each of them once', () => {
  const recorded: number[] = [];
  const { durations } = setUp((millis) => void recorded.push(millis));
  for (const millis of [0, 0, 30, 0]) durations.add(millis);
  expect(recorded).toEqual([30]);
  durations.flush();
  expect(recorded).toEqual([30, 0, 0, 0]);
  durations.add(0);
  durations.flush();
  durations.flush();
  expect(recorded).toEqual([30, 0, 0, 0, 0]);
});
