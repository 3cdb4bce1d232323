import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Order {
  @PrimaryGeneratedColumn() id: number;
  @Column('text') customer: string;
  @Column('text') email: string;
  @Column('real') total: number;
  @Column('integer') day: number;
  @Column('boolean', { default: false }) open: boolean;
  @OneToMany(
    () => Line,
    (line) => line.order,
    { cascade: true },
  )
  lines: Line[];
}

@Entity()
export class Line {
  @PrimaryGeneratedColumn() id: number;
  @Column('text') sku: string;
  @Column('integer') quantity: number;
  @ManyToOne(
    () => Order,
    (order) => order.lines,
  )
  order: Order;
}
