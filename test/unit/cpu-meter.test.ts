import { CpuMeter } from '../../src/core/record/cpu-meter.ts';
import { FakeClock } from './support/fake-clock.ts';

function meter() {
  const clock = new FakeClock();
  const cpu = new CpuMeter(clock, 10);
  cpu.open(clock.now(), clock.idle());
  return { clock, cpu, start: clock.now() };
}

test('a block that computes, and one that waits in a synchronous call', () => {
  const { clock, cpu, start } = meter();
  clock.run(100);
  expect(cpu.between(start, clock.now())).toBe(100);
  clock.time += 300;
  expect(cpu.between(start + 100, clock.now())).toBe(0);
});

test('a busy period that begins soon after the last reading counts what ran since, not what was waited', () => {
  const { clock, cpu } = meter();
  clock.run(3);
  clock.wait(5);
  cpu.open(clock.now(), clock.idle());
  const start = clock.now();
  clock.run(100);
  expect(cpu.between(start, clock.now())).toBe(100);
});

test('at most what was used since a busy period began that is not read: since the reading before it', () => {
  const { clock, cpu } = meter();
  clock.run(2);
  clock.time += 7; // something else has the CPU
  cpu.open(clock.now(), clock.idle());
  const start = clock.now();
  clock.run(60);
  expect(cpu.since(start)).toBe(62);
  cpu.between(start, clock.now());
  clock.run(5);
  expect(cpu.since(start)).toBe(67);
  expect(cpu.since(clock.now() - 1)).toBe(5);
});

test("what piled up, asked about in the callback after it, does not take that callback's CPU time", () => {
  const { clock, cpu, start } = meter();
  clock.run(41);
  expect(cpu.between(start, clock.now())).toBe(41);
  const piledUp = clock.now();
  clock.run(150);
  expect(cpu.between(start, piledUp - 1, clock.now())).toBe(40);
  expect(cpu.between(start, piledUp + 5, clock.now())).toBe(46);
  clock.run(1);
  expect(cpu.between(piledUp, clock.now())).toBe(151);
});

test('readings are bounded: each block of a busy period adds one', () => {
  const { clock, cpu, start } = meter();
  for (let i = 0; i < 10_000; i++) {
    const begin = clock.now();
    clock.run(2);
    expect(cpu.between(begin, clock.now())).toBe(2);
  }
  expect(cpu.between(start, clock.now())).toBe(20_000);
  // A wait is as exact as it would be without all of them before it.
  const begin = clock.now();
  clock.time += 60;
  expect(cpu.between(begin, clock.now())).toBe(0);
});
