import { readFile } from 'node:fs/promises';
import { AIMessage, HumanMessage, trimMessages } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';
import { getEncoding } from 'js-tiktoken';

const encoding = getEncoding('cl100k_base');
const words = (count) =>
  Array.from({ length: count }, (_, i) => `word${i % 701}${i % 9 === 0 ? '.\n' : ''}`).join(' ');

export async function split({ size }) {
  const splitter = new RecursiveCharacterTextSplitter({ chunkSize: 300, chunkOverlap: 60 });
  const chunks = await splitter.splitText(words(size));
  return { facts: [{ id: 1, text: `${chunks.length} chunks` }] };
}

const embed = (text) => Array.from({ length: 256 }, (_, i) => Math.sin(text.length * (i + 1)));

export async function retrieve({ size }) {
  const query = embed('what is it about');
  const scores = Array.from({ length: size }, (_, i) =>
    similarity(query, embed(`fact ${'x'.repeat(i % 97)}`)),
  );
  const best = scores.indexOf(Math.max(...scores));
  return { facts: [{ id: best, text: `fact ${best}` }] };
}

function similarity(a, b) {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i];
    lengthA += a[i] ** 2;
    lengthB += b[i] ** 2;
  }
  return dot / Math.sqrt(lengthA * lengthB);
}

export async function count({ size }) {
  await readFile(new URL(import.meta.url));
  const tokens = encoding.encode(words(size));
  return { facts: [{ id: 2, text: `${tokens.length} tokens` }] };
}

export async function parse({ size }) {
  const text = JSON.stringify(
    Array.from({ length: size }, (_, i) => ({ id: i, text: `t${i}`, tags: ['a', 'b'] })),
  );
  const parsed = JSON.parse(text);
  return { facts: [{ id: 3, text: String(parsed.length) }] };
}

const conversation = (size) =>
  Array.from(
    { length: size },
    (_, i) =>
      new (i % 2 ? AIMessage : HumanMessage)({ id: `m${i}`, content: `Message ${i}: ${words(8)}` }),
  );

function countAll(messages) {
  let tokens = 0;
  for (const { content } of messages) tokens += content.split(/\s+/).length;
  return tokens;
}

export async function trim({ size }) {
  const kept = await trimMessages(conversation(size), {
    maxTokens: 2000,
    strategy: 'last',
    tokenCounter: countAll,
  });
  return { facts: [{ id: 4, text: `${kept.length} kept` }] };
}

export async function many({ size }) {
  return { messages: conversation(size) };
}

export async function reduce({ size }) {
  return { facts: Array.from({ length: size }, (_, i) => ({ id: i, text: `fact ${i} ` })) };
}

export async function prompt() {
  const template = ChatPromptTemplate.fromMessages(
    Array.from({ length: 2500 }, (_, i) => [
      'human',
      `Question ${i} of {name}, about {topic}: {question}? {{literally}}`,
    ]),
  );
  const value = await template.invoke({ name: 'Ada', topic: 'orders', question: 'how' });
  return value.toString();
}
