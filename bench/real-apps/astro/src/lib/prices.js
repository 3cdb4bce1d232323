const RATES = Array.from({ length: 400 }, (_, i) => [`C${i}`, 1 + i / 100]);

export function format(price) {
  const known = Object.fromEntries(RATES);
  const all = Object.keys(known).map(
    (currency) => `${currency} ${(price * known[currency]).toFixed(2)}`,
  );
  return all.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[price % 400];
}
