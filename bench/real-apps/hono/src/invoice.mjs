import { html, raw } from 'hono/html';

const row = (order) =>
  html`<tr><td>${order.id}</td><td>${order.customer}</td><td>${order.placedAt.toISOString()}</td>
    <td>${order.total.toLocaleString('en-GB', { style: 'currency', currency: 'GBP' })}</td></tr>`;

export function renderInvoice(orders) {
  let rows = '';
  for (const order of orders) rows += row(order);
  return html`<table>${raw(rows)}</table>`;
}
