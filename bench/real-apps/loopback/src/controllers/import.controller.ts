import { getModelSchemaRef, post, requestBody } from '@loopback/rest';
import { Order } from '../models';

const content = {
  'application/json': {
    schema: { type: 'array' as const, items: getModelSchemaRef(Order, { exclude: ['id'] }) },
  },
};

export class ImportController {
  @post('/imports')
  receive(@requestBody({ content }) orders: Order[]) {
    return { received: orders.length };
  }
}
