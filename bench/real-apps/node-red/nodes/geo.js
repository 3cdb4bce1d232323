module.exports = (RED) => {
  function GeoNode(config) {
    RED.nodes.createNode(this, config);
    this.on('input', function onPoints(msg, send, done) {
      msg.payload = { nearest: nearestPairs(msg.payload) };
      send(msg);
      done();
    });
  }

  RED.nodes.registerType('geo', GeoNode);
};

function nearestPairs(points) {
  return points.map(([x, y], i) => {
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    points.forEach(([a, b], j) => {
      const distance = Math.hypot(a - x, b - y);
      if (j !== i && distance < least) {
        least = distance;
        best = j;
      }
    });
    return best;
  });
}
