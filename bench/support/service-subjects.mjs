// Guarantees: everything that is weighed in a whole service, `service.mjs`.
import { createHook } from 'node:async_hooks';

/**
 * Each started already; nothing for a process without any of it.
 * @type {Record<string, () => Promise<{ enable(): unknown, disable(): unknown } | undefined>>}
 */
export const SERVICE_SUBJECTS = {
  nothing: async () => undefined,
  'empty hook': async () => createHook({ before() {}, after() {}, trackPromises: false }).enable(),
  "asyncHooks: 'off'": () => create({ asyncHooks: 'off' }),
  'a 20 ms timer': async () => timer(20),
  'captureStack: false': () => create({ captureStack: false }),
  defaults: () => create({}),
  'span processor, thresholdMillis: 20': async () =>
    Object.assign(await create({ thresholdMillis: 20 }), { spanProcessors: [await processor()] }),
  'span processor, on and off': switched,
};

/** Both are on, or both are off. */
async function switched() {
  const [instrumentation, inner] = [await create({}), await processor()];
  let isOn = true;
  const { enable, disable } = instrumentation;
  return Object.assign(instrumentation, {
    enable() {
      isOn = true;
      enable.call(instrumentation);
    },
    disable() {
      isOn = false;
      disable.call(instrumentation);
    },
    spanProcessors: [
      {
        onStart(/** @type {any} */ span, /** @type {any} */ context) {
          if (isOn) inner.onStart(span, context);
        },
        onEnding(/** @type {any} */ span) {
          if (isOn) inner.onEnding?.(span);
        },
        onEnd(/** @type {any} */ span) {
          if (isOn) inner.onEnd(span);
        },
        forceFlush: () => inner.forceFlush(),
        shutdown: () => inner.shutdown(),
      },
    ],
  });
}

/** The floor of what is sampled so often: what the timer alone takes. */
function timer(/** @type {number} */ millis) {
  const beat = setInterval(() => {}, millis).unref();
  return { enable: () => beat.refresh(), disable: () => clearInterval(beat) };
}

async function processor() {
  const { EventLoopSpanProcessor } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopSpanProcessor();
}

/** The built package, found by its own name as a user's import would. */
async function create(/** @type {object} */ config) {
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation(config);
}
