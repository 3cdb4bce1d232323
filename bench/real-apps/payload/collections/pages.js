/** Pages of a site: blocks, rows, related tags. */
export const pages = {
  slug: 'pages',
  access: { read: () => true, create: () => true },
  fields: [
    { name: 'title', type: 'text', required: true, maxLength: 200 },
    { name: 'tags', type: 'relationship', relationTo: 'tags', hasMany: true },
    {
      name: 'rows',
      type: 'array',
      fields: [
        { name: 'label', type: 'text', required: true },
        { name: 'amount', type: 'number', min: 0 },
        { name: 'link', type: 'group', fields: [{ name: 'url', type: 'text' }] },
      ],
    },
    {
      name: 'content',
      type: 'blocks',
      blocks: [
        { slug: 'quote', fields: [{ name: 'text', type: 'textarea' }] },
        { slug: 'banner', fields: [{ name: 'heading', type: 'text' }] },
      ],
    },
  ],
};
