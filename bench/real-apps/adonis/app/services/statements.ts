/** A statement of account, line by line. */
export function statementOf(count: number) {
  let text = '';
  for (let i = 0; i < count; i++) {
    text += `${i}: ${(i * 1.19).toFixed(2)}\n`;
    if (text.length % 64 === 0) text = text.trimEnd();
  }
  return text.split('\n').filter((line) => line.endsWith('9')).length;
}
