import { priceOf, rows } from '../../lib/orders.js';

export const dynamic = 'force-dynamic';

function Row({ order }) {
  return (
    <tr>
      <td>{order.id}</td>
      <td>{priceOf(order)}</td>
    </tr>
  );
}

export default function TablePage() {
  return (
    <table>
      <tbody>
        {rows(600).map((order) => (
          <Row key={order.id} order={order} />
        ))}
      </tbody>
    </table>
  );
}
