// Guarantees: everything that is weighed in a whole service, `service.mjs`.

/**
 * Each started already; nothing for a process without any of it.
 * @type {Record<string, () => Promise<object | undefined>>}
 */
export const SERVICE_SUBJECTS = {
  nothing: async () => undefined,
  'a 20 ms timer': async () => timer(20),
  'captureStack: false': () => create({ captureStack: false }),
  defaults: () => create({}),
};

/** The floor of what is sampled so often: what the timer alone takes. */
function timer(/** @type {number} */ millis) {
  return setInterval(() => {}, millis).unref();
}

/** The built package, found by its own name as a user's import would. */
async function create(/** @type {object} */ config) {
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation(config);
}
