// Queues, brokers, bots and sockets in an Express application. `peer`: what each of them talks to,
// in a process of its own.
const args = (/** @type {string} */ kind) => ['server.cjs', kind];

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Consumers that a request starts',
  args: () => [],
  cases: [],
  consumers: [
    { name: 'BullMQ', args: () => args('bullmq'), peer: 'redis-server' },
    { name: 'bee-queue', args: () => args('bee-queue'), peer: 'redis-server' },
    { name: 'Moleculer', args: () => args('moleculer'), peer: 'peers/moleculer.cjs' },
    { name: 'tRPC', args: () => args('trpc'), peer: 'peers/trpc.cjs' },
    { name: 'grammY', args: () => args('grammy'), peer: 'peers/telegram.cjs' },
    { name: 'MQTT', args: () => args('mqtt'), peer: 'peers/aedes.cjs' },
    { name: 'gRPC', args: () => args('grpc'), peer: 'peers/grpc.cjs' },
    { name: 'Socket.IO', args: () => args('socketio'), peer: 'peers/socketio.cjs' },
  ],
};
