import { renderReport } from './report.ts';

interface Request {
  readonly millis: number;
}

export function handleRequest(millis: Request['millis']): string {
  return `<h1>${renderReport({ millis })}</h1>`;
}
