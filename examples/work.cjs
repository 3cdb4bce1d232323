// What the examples have to do: synchronous work.
function work(millis) {
  const end = performance.now() + millis;
  while (performance.now() < end);
}

module.exports = { work };
