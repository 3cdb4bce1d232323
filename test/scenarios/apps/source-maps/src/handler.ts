import { renderReport } from './report.ts';

interface Request {
  readonly goesOn: () => boolean;
}

export function handleRequest(goesOn: Request['goesOn']): string {
  return `<h1>${renderReport({ goesOn })}</h1>`;
}
