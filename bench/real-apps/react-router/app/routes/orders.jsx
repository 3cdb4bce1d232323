import { orders } from '../lib/data.js';

function Row({ order }) {
  return (
    <tr className={order.id % 2 ? 'odd' : 'even'}>
      <td>{order.id}</td>
      <td>{order.customer}</td>
      <td>{order.total.toFixed(2)}</td>
    </tr>
  );
}

export default function Orders() {
  return (
    <table>
      <tbody>
        {orders.slice(0, 3000).map((order) => (
          <Row key={order.id} order={order} />
        ))}
      </tbody>
    </table>
  );
}
