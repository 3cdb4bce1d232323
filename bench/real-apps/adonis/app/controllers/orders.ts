import type { HttpContext } from '@adonisjs/core/http';
import emitter from '@adonisjs/core/services/emitter';
import vine from '@vinejs/vine';
import Order from '#app/models/order';
import { PairFinder } from '#app/services/pairs';
import { startIndex } from '#app/services/search';

const rows = vine.compile(
  vine.object({
    rows: vine.array(
      vine.object({
        customer: vine.string().trim().maxLength(80),
        email: vine.string().email(),
        total: vine.number().min(0),
      }),
    ),
  }),
);

export default class Orders {
  async list({ request }: HttpContext) {
    const { limit = 500, lines } = request.qs();
    const query = Order.query().limit(Number(limit));
    return lines ? query.preload('lines') : query;
  }

  async page({ view }: HttpContext) {
    const orders = await Order.query().limit(100);
    return view.render('orders', { orders });
  }

  async labels({ view }: HttpContext) {
    return view.render('labels', { count: 400, barcode });
  }

  async customers() {
    const orders = await Order.query().select('customer', 'total').limit(200);
    const sums: Record<string, number> = {};
    const plain = orders.map(({ customer, total }) => ({ customer, total }));
    for (let round = 0; round < 40000; round++) {
      for (const { customer, total } of plain) sums[customer] = (sums[customer] ?? 0) + total;
    }
    return sums;
  }

  async pairs() {
    return { pairs: await new PairFinder().pairs() };
  }

  async import({ request }: HttpContext) {
    const body = await request.validateUsing(rows);
    return { received: body.rows.length };
  }

  async paid({ response }: HttpContext) {
    emitter.emit('orders:paid', { count: 30000 });
    response.accepted({});
  }

  async index({ response }: HttpContext) {
    startIndex(4);
    response.accepted({});
  }
}

function barcode(id: number) {
  let bars = '';
  for (let i = 0; i < 6000; i++) bars += (id * 31 + i * 7) % 3 === 0 ? '|' : ' ';
  return bars.replaceAll('  ', ' ').length;
}
