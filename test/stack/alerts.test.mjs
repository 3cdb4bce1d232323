// Every alert of deploy/prometheus/rules.yaml: pending, firing and resolved, by what a real service
// does. The rules are the shipped ones with their durations divided (see shorten.mjs), so that
// minutes become seconds.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ENDPOINTS } from '../../tools/demo-service/endpoints.cjs';
import { measureSizes } from '../../tools/demo-service/workload.cjs';
import { eventually } from '../../tools/harness.cjs';
import { readRules, rulesText } from './support/expressions.mjs';
import * as prometheus from './support/prometheus.mjs';
import { shortenRules } from './support/shorten.mjs';
import { startStack } from './support/stack.mjs';
import { canStarve, starve } from './support/starve.mjs';
import { traced } from './support/traced.mjs';

/** Five minutes become ten seconds, with ten exports of the demo's metrics. */
const TIMES_FASTER = 30;
const FIRING_MILLIS = 90_000;
const RESOLVED_MILLIS = 90_000;
const HANG_MILLIS = 30_000;

/** Needs a process that is starved. */
const WITHOUT_CPU = 'EventLoopInstanceWithoutCpu';

const ALERTS = readRules().filter(({ alert }) => alert);

/** @type {import('./support/stack.mjs').Stack} */
let stack;
let demo;
let steps;
let watching;
/** @type {Map<string, Set<string>>} every state that an alert has had */
const states = new Map(ALERTS.map(({ alert }) => [alert, new Set()]));

async function watchAlerts() {
  for (const { name, state } of await prometheus.alerts(stack.urls.prometheus))
    states.get(name)?.add(state);
}

const active = async () =>
  (await prometheus.alerts(stack.urls.prometheus)).map(({ name, state }) => `${name} ${state}`);

const fires = (name) =>
  eventually(`${name} fires`, FIRING_MILLIS, async () =>
    (await active()).includes(`${name} firing`),
  );

const nothingActive = () =>
  eventually('no alert is active', RESOLVED_MILLIS, async () => {
    const names = await active();
    if (names.length > 0) throw new Error(names.join(', '));
    return true;
  });

/** One request after another until it is told to end, and beside each one that is stalled. */
function keepBlocking(size) {
  let goesOn = true;
  async function block() {
    while (goesOn) {
      await Promise.all([
        traced(`${demo.url}/orders`),
        traced(`${demo.url}/compute-sync?steps=${size}`),
      ]);
      await pause(50);
    }
  }
  const ended = block();
  return {
    end() {
      goesOn = false;
      return ended;
    },
  };
}

beforeAll(async () => {
  stack = await startStack({ rules: shortenRules(rulesText(), TIMES_FASTER) });
  demo = await stack.startDemo({ OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: '2000' });
  ({ steps } = await measureSizes(demo.url, ENDPOINTS));
  watching = setInterval(() => watchAlerts().catch(() => {}), 200);
});
afterAll(async () => {
  clearInterval(watching);
  await stack?.stop();
});

test('an idle service: nothing', async () => {
  await eventually('the rules were evaluated', FIRING_MILLIS, async () => {
    const rules = await prometheus.rules(stack.urls.prometheus);
    return rules.length > 0 && rules.every(({ lastEvaluation }) => Date.parse(lastEvaluation) > 0);
  });
  await nothingActive();
});

test('a service that is blocked most of the time: lag, blocks and saturation; over when it is idle', async () => {
  const blocking = keepBlocking(steps * 4); // over a second
  try {
    await Promise.all([
      fires('EventLoopLagHigh'),
      fires('EventLoopBlockOverOneSecond'),
      fires('EventLoopInstanceBlocked'),
      fires('EventLoopInstanceOverloaded'),
      fires('EventLoopLagBudgetBurns'),
      fires('EventLoopStalledBudgetBurns'),
    ]);
  } finally {
    await blocking.end();
  }
  await nothingActive();
});

test('a service that hangs: a block that does not end, and silence; over when it comes back', async () => {
  const hanging = traced(
    `${demo.url}/compute-sync?steps=${Math.round((steps * HANG_MILLIS) / 300)}`,
  );
  try {
    await Promise.all([fires('EventLoopBlockNotEnding'), fires('EventLoopInstanceSilent')]);
  } finally {
    await hanging;
  }
  await nothingActive();
});

const testStarved = canStarve ? test : test.skip;

testStarved(
  'a service whose CPU another process has: without a CPU; over when it is idle',
  async () => {
    const stopStarving = starve(demo.pid, FIRING_MILLIS);
    const blocking = keepBlocking(steps);
    try {
      await fires(WITHOUT_CPU);
    } finally {
      stopStarving();
      await blocking.end();
    }
    await nothingActive();
  },
);

const FIRED = ALERTS.filter(({ alert }) => canStarve || alert !== WITHOUT_CPU);

test.each(FIRED.map((rule) => [rule.alert, rule]))(
  '%s was pending first if it has to wait, and fired',
  (alert, rule) => {
    expect([...states.get(alert)]).toEqual(rule.for ? ['pending', 'firing'] : ['firing']);
  },
);
