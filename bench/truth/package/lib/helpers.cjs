// @ts-nocheck: an application as there are many.
/** What an application has between its handlers and its work. */
exports.timed = function timed(name, work) {
  const start = process.hrtime.bigint();
  try {
    return work();
  } finally {
    exports.timings[name] = process.hrtime.bigint() - start;
  }
};
exports.timings = {};

exports.retry = (times, work) => {
  for (let left = times; ; left--) {
    try {
      return work();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
};

exports.forEachOrder = (list, visit) => {
  for (const each of list) visit(each);
};
