import DataLoader from 'dataloader';

const users = new Map(Array.from({ length: 30000 }, (_, id) => [id, { id, name: `user ${id}` }]));

export async function loadUsers() {
  const loader = new DataLoader(async (ids) => ids.map((id) => users.get(id)), {
    maxBatchSize: 100,
  });
  const found = await Promise.all([...users.keys()].map((id) => loader.load(id)));
  return found.length;
}
