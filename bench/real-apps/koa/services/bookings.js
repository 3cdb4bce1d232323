/** What the database has. */
export const bookings = Array.from({ length: 60000 }, (_, i) => ({
  id: i,
  room: `Room ${i % 40}`,
  email: `guest${(i * 7919) % 5003}@example.com`,
  from: new Date(1.76e12 + i * 18e5).toISOString(),
  nights: 1 + (i % 6),
  guests: [{ name: `Guest ${i}`, age: 20 + (i % 50) }],
}));
