export const tags = {
  slug: 'tags',
  access: { read: () => true },
  fields: [{ name: 'name', type: 'text', required: true }],
};
