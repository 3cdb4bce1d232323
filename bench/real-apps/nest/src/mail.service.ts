import { Injectable } from '@nestjs/common';
import * as Handlebars from 'handlebars';
import type { Order } from './order.entity';

const TEMPLATE = `<h1>Hello {{order.customer}}</h1>
{{#if order.open}}<p>Your order {{order.id}} of {{order.total}} is under way.</p>{{else}}<p>It has come.</p>{{/if}}
{{#each steps}}<li>{{this.name}}: {{#if this.done}}done{{else}}open{{/if}}</li>{{/each}}
{{#with order}}<a href="https://example.com/{{id}}?m={{email}}">{{email}}</a>{{/with}}
`.repeat(4);

@Injectable()
export class MailService {
  render(order: Order) {
    const template = Handlebars.compile(TEMPLATE);
    return template({ order, steps: [{ name: 'packed', done: true }, { name: 'sent' }] });
  }
}
