import { repository } from '@loopback/repository';
import { OrderRepository } from '../repositories';

export class MatchService {
  constructor(@repository(OrderRepository) private readonly orders: OrderRepository) {}

  /** Pairs of orders of one customer with the same total. */
  async pairs() {
    const orders = await this.orders.find({ fields: ['id', 'customer', 'total'], limit: 1500 });
    let pairs = 0;
    for (const order of [...orders, ...orders, ...orders, ...orders]) {
      for (const other of orders) {
        const isSame = order.customer.toLowerCase() === other.customer.toLowerCase();
        if (isSame && Math.abs(order.total - other.total) < 5) pairs++;
      }
    }
    return pairs;
  }
}
