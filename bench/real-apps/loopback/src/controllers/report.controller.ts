import { service } from '@loopback/core';
import { repository } from '@loopback/repository';
import { get, post, response } from '@loopback/rest';
import { OrderRepository } from '../repositories';
import { IndexService } from '../services/index.service';
import { MatchService } from '../services/match.service';

export class ReportController {
  constructor(
    @repository(OrderRepository) private readonly orders: OrderRepository,
    @service(MatchService) private readonly matches: MatchService,
    @service(IndexService) private readonly index: IndexService,
  ) {}

  @get('/reports/customers')
  async customers() {
    const orders = await this.orders.find({ fields: ['customer', 'total'], limit: 200 });
    const sums: Record<string, number> = {};
    for (let round = 0; round < 12000; round++) {
      for (const { customer, total } of orders) sums[customer] = (sums[customer] ?? 0) + total;
    }
    return sums;
  }

  @get('/reports/pairs')
  async pairs() {
    return { pairs: await this.matches.pairs() };
  }

  @post('/index')
  @response(202)
  start() {
    this.index.start(4);
    return {};
  }
}
