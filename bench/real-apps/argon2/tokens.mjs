import { encode } from 'gpt-tokenizer';
import { get_encoding } from 'tiktoken';

const cl100k = get_encoding('cl100k_base');

export function countTokens(text) {
  return cl100k.encode(text).length;
}

export function countWith(model, text) {
  const encoding = get_encoding(model);
  try {
    return encoding.encode(text).length;
  } finally {
    encoding.free();
  }
}

export function split(text) {
  const tokens = encode(text);
  return Math.ceil(tokens.length / 512);
}
