/**
 * A program with listeners of `beforeExit` has them called as often as without this package, and
 * its telemetry is sent.
 */
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { appFile, runApp } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';

const CONSOLE = 'opentelemetry-instrumentation-event-loop/console';
const REGISTER = 'opentelemetry-instrumentation-event-loop/register';

let receiver: OtlpReceiver;
beforeEachMeasurement(async () => {
  receiver = await OtlpReceiver.listen();
});
afterEachMeasurement(() => receiver.close());

async function run(way: string, entries: string[]) {
  const { stdout, code, signal } = await runApp('before-exit.cjs', {
    file: appFile('plain/before-exit.cjs'),
    args: [way],
    nodeArgs: entries.flatMap((entry) => ['--require', entry]),
    env: receiver.env,
  });
  return { way, stdout, code, signal };
}

describe.each([[[CONSOLE]], [[REGISTER]], [[REGISTER, CONSOLE]]])('%p', (entries) => {
  test.each<[string, string[]]>([
    ['a listener', ['work 0']],
    ['once a listener', ['work 0']],
    ['a span in the listener', ['work 0', 'last']],
    ['a span in what an async listener does last', ['work 0', 'last']],
    ['timers, twice', ['work 0', 'work 1', 'work 2']],
    ['immediates, twice', ['work 0', 'work 1', 'work 2']],
    ['work in the thread pool, twice', ['work 0', 'work 1', 'work 2']],
    ['a timer after an await, twice', ['work 0', 'work 1', 'work 2']],
    ['a timer that counts again, twice', ['work 0', 'work 1', 'work 2']],
    ['a signal to itself', ['work 0']],
    ['an error', ['work 0']],
    ['process.exit', ['work 0']],
    ['emitted by the application', ['work 0']],
    ['emitted by an async function', ['work 0']],
  ])('%s: called as without, and everything is sent', async (way, spans) => {
    const [without, under] = await Promise.all([run(way, []), run(way, entries)]);
    expect(under).toEqual(without);
    if (!entries.includes(REGISTER)) return;
    const names = receiver.spans
      .map(({ name }) => name)
      .filter((name) => /^(work|last)/.test(name));
    expect([...new Set(names)]).toEqual(spans);
  });
});
