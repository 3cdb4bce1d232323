import { RepositoryMixin } from '@loopback/repository';
import { RestApplication } from '@loopback/rest';
import { ImportController } from './controllers/import.controller';
import { OrderController } from './controllers/order.controller';
import { ReportController } from './controllers/report.controller';
import { TimingInterceptor } from './interceptors/timing.interceptor';
import { LineRepository, MemoryDataSource, OrderRepository } from './repositories';
import { IndexService } from './services/index.service';
import { MatchService } from './services/match.service';

class Shop extends RepositoryMixin(RestApplication) {
  constructor() {
    super({ rest: { host: '127.0.0.1', port: Number(process.env.PORT), gracePeriodForClose: 0 } });
    this.dataSource(MemoryDataSource, 'memory');
    this.repository(LineRepository);
    this.repository(OrderRepository);
    this.service(MatchService);
    this.service(IndexService);
    this.interceptor(TimingInterceptor);
    this.controller(OrderController);
    this.controller(ReportController);
    this.controller(ImportController);
    this.bind('rest.bodyParserOptions').to({ limit: '20mb' });
  }

  async fill() {
    const orders = await this.getRepository(OrderRepository);
    const lines = await this.getRepository(LineRepository);
    await orders.createAll(
      Array.from({ length: 1500 }, (_, i) => ({
        customer: `Customer ${i % 97}`,
        note: `note ${i} `.repeat(8),
        total: (i * 37) % 1000,
      })),
    );
    await lines.createAll(
      Array.from({ length: 3000 }, (_, i) => ({
        orderId: 1 + (i % 1500),
        sku: `sku-${i % 300}`,
        price: i % 90,
      })),
    );
  }
}

async function main() {
  const shop = new Shop();
  await shop.fill();
  await shop.start();
  process.on('SIGTERM', () => shop.stop());
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
