// zone.js, which patches the timers of Node.js: a zone is stable once its own tasks have run. Which
// is loaded first is an argument.
const { subscribe } = require('node:diagnostics_channel');

const zoneIsFirst = process.argv[2] === 'zone.js';
if (zoneIsFirst) require('zone.js/node');
const {
  BLOCK_CHANNEL,
  EventLoopInstrumentation,
} = require('opentelemetry-instrumentation-event-loop');
if (!zoneIsFirst) require('zone.js/node');

const macroTasks = [];
let isStable = false;
const zone = Zone.current.fork({
  name: 'application',
  onScheduleTask(delegate, _current, target, task) {
    if (task.type === 'macroTask') macroTasks.push(task.source);
    return delegate.scheduleTask(target, task);
  },
  onHasTask(delegate, current, target, state) {
    delegate.hasTask(target, state);
    if (state.change === 'macroTask' && current === target) isStable = !state.macroTask;
  },
});

const blocks = [];
function work() {
  for (const before = process.cpuUsage(); process.cpuUsage(before).user < 200_000; )
    for (let i = 0; i < 1e6; i++);
}

subscribe(BLOCK_CHANNEL, ({ block: { code, durationMillis: millis, samples } }) =>
  blocks.push({ name: code?.functionName, millis, samples }),
);
const instrumentation = zone.run(() => new EventLoopInstrumentation({ thresholdMillis: 50 }));
instrumentation.ready().then(() => zone.run(() => setTimeout(work, 20)));

/** Outside of the zone, once the block has been reported. */
const timer = setInterval(() => {
  if (blocks.length === 0) return;
  clearInterval(timer);
  console.log(JSON.stringify({ macroTasks, isStable, blocks }));
}, 20);
