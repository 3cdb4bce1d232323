import moment from 'moment-timezone';
import { bookings } from '../services/bookings.js';

const ROOMS = 12;
const taken = new Set(bookings.slice(0, 5000).map(({ room, from }) => `${room} ${from}`));

/** Hours in which a room is free, as people in this time zone read them. */
export function freeSlots(zone, days) {
  const slots = [];
  const start = moment.tz('2026-03-01', zone);
  for (let room = 0; room < ROOMS; room++) {
    for (let day = 0; day < days; day++) {
      for (let hour = 8; hour < 18; hour++) {
        const slot = start.clone().add(day, 'days').hour(hour).tz('Europe/Berlin');
        if (!taken.has(`Room ${room} ${slot.toISOString()}`))
          slots.push({ room, at: slot.format('YYYY-MM-DD HH:mm z') });
      }
    }
  }
  return slots;
}
