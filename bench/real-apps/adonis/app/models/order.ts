import { BaseModel, column, computed, hasMany } from '@adonisjs/lucid/orm';
import type { HasMany } from '@adonisjs/lucid/types/relations';
import Line from '#app/models/line';

export default class Order extends BaseModel {
  @column({ isPrimary: true }) declare id: number;
  @column() declare customer: string;
  @column() declare note: string;
  @column() declare total: number;
  @hasMany(() => Line) declare lines: HasMany<typeof Line>;

  @computed()
  get title() {
    return `${this.customer}: ${this.total}`;
  }
}
