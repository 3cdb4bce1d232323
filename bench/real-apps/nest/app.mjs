// Nest with TypeORM and sql.js, compiled by tsc as `nest build` does.
/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Nest, TypeORM and sql.js',
  build: [['node_modules/typescript/bin/tsc', '-p', '.', '--noCheck']],
  args: () => ['dist/main.js'],
  ready: '/health',
  cases: [
    {
      name: 'a service groups entities after await of a repository',
      ask: (client) => client.get('/orders/statistics'),
      right: { file: 'src/orders.service.ts', in: ['async statistics('] },
    },
    {
      name: 'the repository reads many entities',
      ask: (client) => client.get('/orders/count-open'),
      right: [
        { file: 'src/orders.service.ts', in: ['async countOpen('] },
        { packages: ['typeorm', '@nestjs/typeorm'] },
      ],
    },
    {
      name: 'a slow statement of sql.js',
      ask: (client) => client.get('/orders/pairs'),
      right: [
        { file: 'src/orders.service.ts', in: ['async pairs('] },
        { packages: ['typeorm', '@nestjs/typeorm', 'sql.js'] },
      ],
    },
    {
      name: 'entities saved in a transaction',
      ask: (client) => client.get('/orders/import', { json: { count: 400 } }),
      right: [
        { file: 'src/orders.service.ts', in: ['async importOrders('] },
        { packages: ['typeorm', '@nestjs/typeorm'] },
      ],
    },
    {
      name: 'ValidationPipe with a big DTO',
      ask: (client) =>
        client.get('/orders/validate', {
          json: {
            orders: Array.from({ length: 2500 }, (_, i) => ({
              customer: `C ${i}`,
              email: `c${i}@example.com`,
              total: i,
            })),
          },
        }),
      right: {
        packages: ['@nestjs/common', '@nestjs/core', 'class-validator', 'class-transformer'],
      },
    },
    {
      name: 'interceptor that serializes',
      ask: (client) => client.get('/orders/list'),
      right: [
        { file: 'src/mask.interceptor.ts', in: ['mask(value: unknown)'] },
        // It reads them, the first time.
        { file: 'src/orders.service.ts', in: ['async cached('] },
      ],
    },
    {
      name: 'guard that checks a list of rules',
      ask: (client) => client.get('/orders/guarded'),
      right: { file: 'src/rules.guard.ts', in: ['canActivate('] },
    },
    {
      name: 'CSV unparse by papaparse',
      ask: (client) => client.get('/orders/csv'),
      right: { file: 'src/orders.controller.ts', in: ['async csv('] },
    },
    {
      name: 'handlebars in a mail service, compiled each time',
      ask: (client) => client.get('/orders/mails'),
      right: { file: 'src/mail.service.ts', in: ['render('] },
    },
    {
      name: 'cron job',
      ask: async (client) => {
        await client.get('/orders/job', { method: 'POST' });
        await new Promise((resolve) => setTimeout(resolve, 500));
      },
      parent: false,
      right: { file: 'src/jobs.service.ts', in: ['async rebuild('] },
    },
  ],
};
