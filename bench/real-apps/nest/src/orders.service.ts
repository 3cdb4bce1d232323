import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';
import { Order } from './order.entity';

@Injectable()
export class OrdersService implements OnModuleInit {
  private all: Order[] | undefined;

  constructor(
    @InjectRepository(Order) private readonly repository: Repository<Order>,
    private readonly source: DataSource,
  ) {}

  async onModuleInit() {
    await this.source.query(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
      insert into "order" (customer, email, total, day, open)
      select 'Customer ' || (i * 7919 % 800), 'c' || i || '@example.com', i % 977 / 7.0, i % 365, i % 3 = 0 from n`);
    await this.source.query(
      `insert into line (sku, quantity, orderId) select 'SKU-' || id, id % 7, id from "order"`,
    );
  }

  async cached() {
    this.all ??= await this.repository.find({ order: { id: 'ASC' } });
    return this.all;
  }

  async statistics() {
    const orders = await this.repository.find({ take: 300, order: { id: 'ASC' } });
    const months: Record<string, number> = {};
    for (const order of orders) {
      for (const other of orders) {
        const date = new Date(Date.UTC(2026, 0, other.day));
        const month = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
        if (other.customer <= order.customer) months[month] = (months[month] ?? 0) + 1;
      }
      if (Object.keys(months).length > 100) break;
      if (order.id > 20) break;
    }
    return months;
  }

  async countOpen() {
    const orders = await this.repository.find({
      where: { open: true },
      relations: { lines: true },
    });
    return { open: orders.length };
  }

  async pairs() {
    return this.repository
      .createQueryBuilder('a')
      .select('count(*)', 'count')
      .innerJoin(Order, 'b', 'b.day + 0 = a.day + 0 and b.total + 0 > a.total + 0')
      .where('a.id < 900')
      .getRawOne();
  }

  async importOrders(count: number) {
    const orders = Array.from({ length: count }, (_, i) =>
      this.repository.create({
        customer: `New ${i}`,
        email: `n${i}@example.com`,
        total: i,
        day: 400,
        lines: [{ sku: 'S', quantity: i }],
      }),
    );
    await this.repository.save(orders, { chunk: 100 });
    return { saved: orders.length };
  }
}
