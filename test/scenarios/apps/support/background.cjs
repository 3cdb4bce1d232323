// Preloaded with `SCENARIO_BACKGROUND=1`. It keeps neither a process nor a worker thread alive.
setInterval(() => {}, 1).unref();
