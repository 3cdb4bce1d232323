import { BaseModel, column } from '@adonisjs/lucid/orm';

export default class Line extends BaseModel {
  @column({ isPrimary: true }) declare id: number;
  @column() declare orderId: number;
  @column() declare sku: string;
  @column() declare price: number;
}
