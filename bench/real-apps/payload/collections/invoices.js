/** Invoices: a checksum before one is stored, and one for each that is read. */
export const invoices = {
  slug: 'invoices',
  access: { read: () => true, create: () => true },
  fields: [
    { name: 'customer', type: 'text', required: true },
    { name: 'text', type: 'textarea' },
    { name: 'words', type: 'number' },
  ],
  hooks: {
    beforeChange: [({ data }) => ({ ...data, words: differentWords(data.text ?? '') })],
    afterRead: [({ doc }) => ({ ...doc, code: codeOf(`${doc.customer} ${doc.text}`) })],
  },
};

function differentWords(text) {
  const found = [];
  for (const word of text.toLowerCase().split(/\W+/)) if (!found.includes(word)) found.push(word);
  return found.length;
}

function codeOf(text) {
  let code = 7;
  for (let i = 0; i < text.length * 150; i++) {
    code = (code * 31 + text.charCodeAt(i % text.length)) % 4294967291;
  }
  return code;
}
