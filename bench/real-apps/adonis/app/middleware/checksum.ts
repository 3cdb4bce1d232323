import type { HttpContext } from '@adonisjs/core/http';

/** A checksum of the answer, as a header. */
export default class Checksum {
  async handle({ response }: HttpContext, next: () => Promise<unknown>) {
    await next();
    response.header('x-checksum', checksumOf(JSON.stringify(response.getBody())));
  }
}

function checksumOf(text: string) {
  let sum = 7;
  for (let i = 0; i < text.length * 20; i++) {
    sum = (sum * 31 + text.charCodeAt(i % text.length)) % 4294967291;
  }
  return sum;
}
