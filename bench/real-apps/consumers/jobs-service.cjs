const { join } = require('node:path');
const { loadPackageDefinition } = require('@grpc/grpc-js');
const { loadSync } = require('@grpc/proto-loader');

exports.Jobs = loadPackageDefinition(loadSync(join(__dirname, 'jobs.proto'))).Jobs;
