import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

@Injectable()
class ReportService {
  renderReport(rows: number): string {
    const lines: string[] = [];
    for (let row = 0; row < rows; row++)
      lines.push(createHash('sha256').update(`${row}`).digest('hex'));
    return lines.join('\n');
  }
}

@Controller('report')
class ReportController {
  constructor(private readonly reports: ReportService) {}

  @Get()
  report(): string {
    return this.reports.renderReport(200_000);
  }
}

@Module({ controllers: [ReportController], providers: [ReportService] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  await app.listen(Number(process.env['PORT'] ?? 3000));
}

void main();
