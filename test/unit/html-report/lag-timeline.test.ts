/** Lag and utilization over time, in a fixed number of slots. */
import { LagTimeline } from '../../../src/outputs/html-report/lag-timeline.ts';

test('the lag of an event counts when it arrived; utilization when the loop was busy', () => {
  const timeline = new LagTimeline(1000);
  timeline.add(1020, 0, 0);
  // Busy from 1020 to 1350, and a sample for each event that would have come meanwhile.
  timeline.add(1350, 330, 310);
  timeline.add(1350, 330, 110);

  const { slotMillis, lagMillis, maxLagMillis, utilization } = timeline.read(1400);
  expect(slotMillis).toBe(100);
  expect(lagMillis).toEqual([155, null, 110, null]);
  expect(maxLagMillis).toEqual([310, null, 110, null]);
  expect(utilization).toEqual([1, 1, 1, 1]);
});

test('when the slots are full, two become one', () => {
  const timeline = new LagTimeline(0);
  timeline.add(50, 0, 4);
  timeline.add(150, 0, 8);
  timeline.add(204_800, 0, 0);

  const { slotMillis, lagMillis, maxLagMillis } = timeline.read(204_900);
  expect(slotMillis).toBe(200);
  expect([lagMillis[0], maxLagMillis[0]]).toEqual([6, 8]);
  expect(lagMillis).toHaveLength(1025);
});

test('while the machine slept, the loop was not busy', () => {
  const timeline = new LagTimeline(0);
  timeline.add(50, 0, 0);
  timeline.add(1000, 5, 0);
  // The clock was set back.
  timeline.add(990, 10, 0);
  timeline.add(1000, 20, 0);

  const { utilization } = timeline.read(1000);
  expect(utilization).toHaveLength(10);
  expect(utilization[5]).toBe(0.005);
});

test('if waits are not counted, utilization is not known', () => {
  const timeline = new LagTimeline(0);
  timeline.add(50, Number.NaN, 1);
  timeline.add(70, Number.NaN, 1);

  expect(timeline.read(100).utilization).toEqual([null]);
});
