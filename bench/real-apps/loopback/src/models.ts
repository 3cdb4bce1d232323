import { Entity, hasMany, model, property } from '@loopback/repository';

@model()
export class Line extends Entity {
  @property({ type: 'number', id: true, generated: true }) id?: number;
  @property({ type: 'string', required: true }) sku!: string;
  @property({ type: 'number' }) price!: number;
  @property({ type: 'number' }) orderId!: number;
}

@model()
export class Order extends Entity {
  @property({ type: 'number', id: true, generated: true }) id?: number;
  @property({ type: 'string', required: true, jsonSchema: { maxLength: 80 } }) customer!: string;
  @property({ type: 'string' }) note!: string;
  @property({ type: 'number', jsonSchema: { minimum: 0 } }) total!: number;
  @hasMany(() => Line) lines?: Line[];
}

/** An order as a customer sees it: its JSON has a code to check it with. */
@model()
export class Receipt extends Order {
  toJSON() {
    let code = 7;
    const text = `${this.customer} ${this.note}`;
    for (let i = 0; i < text.length * 30; i++) {
      code = (code * 31 + text.charCodeAt(i % text.length)) % 4294967291;
    }
    return { ...super.toJSON(), code };
  }
}
