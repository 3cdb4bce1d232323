// Preloaded after `/register`: switches what that started on and off, as the benchmark asks, and
// says when it has done so.
import { EventLoopSpanProcessor } from 'opentelemetry-instrumentation-event-loop';

/** The instances of this thread, as `src/active-instance.ts` keeps them. */
const KEY = Symbol.for('opentelemetry-instrumentation-event-loop.instances.v1');

let isOn = true;
const { prototype } = EventLoopSpanProcessor;
for (const name of ['onStart', 'onEnding', 'onEnd']) {
  const original = prototype[name];
  // Two arguments, as the widest of them: a rest parameter would allocate.
  prototype[name] = function (/** @type {unknown} */ span, /** @type {unknown} */ context) {
    if (isOn) return original.call(this, span, context);
  };
}

process.on('message', ({ switchTo }) => {
  const instance = globalThis[KEY].at(-1);
  // Both ways of switching do both, so that neither leaves more behind than the other.
  if (isOn) instance.deactivate();
  instance.activate();
  isOn = switchTo === 'on';
  if (!isOn) instance.deactivate();
  process.send('done');
});
