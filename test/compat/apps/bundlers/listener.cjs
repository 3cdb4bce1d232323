const { block, blockInSteps, warm } = require('./support/work.cjs');

const ROUTES = { '/warm': warm, '/handler': block, '/steps': blockInSteps };

async function listener(request, response) {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(await ROUTES[request.url]()));
}

module.exports = { listener };
