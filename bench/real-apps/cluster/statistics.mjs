import { mean, quantile, standardDeviation } from 'simple-statistics';

const durations = Array.from({ length: 300000 }, (_, i) => ((i * 7919) % 100003) / 7);

export function summarize() {
  const quantiles = [0.5, 0.75, 0.9, 0.95, 0.99].map((q) => quantile(durations, q));
  return { mean: mean(durations), deviation: standardDeviation(durations), quantiles };
}
