import { forceCenter, forceLink, forceManyBody, forceSimulation } from 'd3-force';

export function layOut(count) {
  const nodes = Array.from({ length: count }, (_, id) => ({ id }));
  const links = nodes.slice(1).map(({ id }) => ({ source: id, target: Math.floor(id / 3) }));
  const simulation = forceSimulation(nodes)
    .force('charge', forceManyBody())
    .force('link', forceLink(links))
    .force('center', forceCenter())
    .stop();
  simulation.tick(60);
  return nodes.slice(0, 5).map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
}
