import { setTimeout as sleep } from 'node:timers/promises';
import { groupBy, map, orderBy, sumBy, uniqBy } from 'lodash-es';
import { bookings } from './bookings.js';

export async function occupancy() {
  await sleep(3);
  const byGuest = groupBy(bookings, ({ email, room }) => `${email.toLowerCase()} ${room}`);
  const rows = map(byGuest, (stays, guest) => ({
    guest,
    nights: sumBy(stays, 'nights'),
    rooms: uniqBy(stays, 'room').length,
  }));
  return orderBy(rows, ['nights', 'guest'], ['desc', 'asc']).slice(0, 50);
}
