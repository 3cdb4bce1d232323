import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsService } from './jobs.service';
import { MailService } from './mail.service';
import { Line, Order } from './order.entity';
import { OrdersController } from './orders.controller';
import { OrdersService } from './orders.service';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    TypeOrmModule.forRoot({ type: 'sqljs', entities: [Order, Line], synchronize: true }),
    TypeOrmModule.forFeature([Order, Line]),
  ],
  controllers: [OrdersController],
  providers: [OrdersService, MailService, JobsService],
})
export class AppModule {}
