import type { Interceptor } from '@loopback/core';

/** Adds a checksum of what a method returns. */
export const checksum: Interceptor = async (context, next) => {
  const result = await next();
  return { result, sum: checksumOf(JSON.stringify(result)) };
};

function checksumOf(text: string) {
  let sum = 7;
  for (let i = 0; i < text.length * 20; i++) {
    sum = (sum * 31 + text.charCodeAt(i % text.length)) % 4294967291;
  }
  return sum;
}
