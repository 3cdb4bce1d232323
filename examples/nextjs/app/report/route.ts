import { createHash } from 'node:crypto';

export const dynamic = 'force-dynamic';

export async function GET() {
  return new Response(renderReport(200_000));
}

function renderReport(rows: number): string {
  const lines: string[] = [];
  for (let row = 0; row < rows; row++)
    lines.push(createHash('sha256').update(`${row}`).digest('hex'));
  return lines.join('\n');
}
