import { intercept } from '@loopback/core';
import { type Filter, repository } from '@loopback/repository';
import { get, param } from '@loopback/rest';
import { checksum } from '../interceptors/checksum.interceptor';
import { Order, Receipt } from '../models';
import { OrderRepository } from '../repositories';

export class OrderController {
  constructor(@repository(OrderRepository) private readonly orders: OrderRepository) {}

  @get('/health')
  health() {
    return { ok: true };
  }

  @get('/orders')
  find(@param.filter(Order) filter?: Filter<Order>) {
    return this.orders.find(filter);
  }

  @get('/orders/checked')
  @intercept(checksum)
  checked() {
    return this.orders.find({ limit: 500 });
  }

  @get('/receipts')
  async receipts() {
    const orders = await this.orders.find({ limit: 600 });
    return orders.map((order) => new Receipt({ ...order }));
  }
}
