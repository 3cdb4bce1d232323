import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CronJob } from 'cron';
import { OrdersService } from './orders.service';

@Injectable()
export class JobsService {
  private index = new Map<string, Set<number>>();

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly orders: OrdersService,
  ) {}

  scheduleRebuild() {
    const name = `rebuild-${Date.now()}`;
    const job = new CronJob(new Date(Date.now() + 100), () => this.rebuild());
    this.registry.addCronJob(name, job);
    job.start();
    return { scheduled: true };
  }

  async rebuild() {
    const orders = await this.orders.cached();
    this.index.clear();
    for (const order of orders) {
      for (const text of [order.customer, order.email]) {
        for (let length = 1; length <= text.length; length++) {
          const prefix = text.slice(0, length).toLowerCase();
          const ids = this.index.get(prefix) ?? new Set();
          ids.add(order.id);
          this.index.set(prefix, ids);
        }
      }
    }
  }
}
