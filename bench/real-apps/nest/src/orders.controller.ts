import { Body, Controller, Get, Post, UseGuards, UseInterceptors } from '@nestjs/common';
import * as Papa from 'papaparse';
import { JobsService } from './jobs.service';
import { MailService } from './mail.service';
import { MaskInterceptor } from './mask.interceptor';
import { OrdersDto } from './order.dto';
import { OrdersService } from './orders.service';
import { RulesGuard } from './rules.guard';

@Controller()
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly mails: MailService,
    private readonly jobs: JobsService,
  ) {}

  @Get('health')
  health() {
    return 'ok';
  }

  @Get('orders/statistics')
  statistics() {
    return this.orders.statistics();
  }

  @Get('orders/count-open')
  countOpen() {
    return this.orders.countOpen();
  }

  @Get('orders/pairs')
  pairs() {
    return this.orders.pairs();
  }

  @Post('orders/import')
  importOrders(@Body('count') count: number) {
    return this.orders.importOrders(count);
  }

  @Post('orders/validate')
  validate(@Body() dto: OrdersDto) {
    return { count: dto.orders.length };
  }

  @Get('orders/list')
  @UseInterceptors(MaskInterceptor)
  list() {
    return this.orders.cached();
  }

  @Get('orders/guarded')
  @UseGuards(RulesGuard)
  guarded() {
    return { allowed: true };
  }

  @Get('orders/csv')
  async csv() {
    const orders = await this.orders.cached();
    const rows = orders.map(({ id, customer, email, total }) => ({
      id,
      customer,
      email,
      total,
      note: `a "note"; ${id}`,
    }));
    return Papa.unparse([...rows, ...rows, ...rows, ...rows], { delimiter: ';', quotes: true });
  }

  @Get('orders/mails')
  async mailAll() {
    const orders = await this.orders.cached();
    return orders.slice(0, 60).map((order) => this.mails.render(order).length);
  }

  @Post('orders/job')
  job() {
    return this.jobs.scheduleRebuild();
  }
}
