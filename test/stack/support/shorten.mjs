// Durations divided: windows, offsets and `for`. A test cannot wait for the five minutes after
// which an alert fires; what it shows is that the expressions match what they should match, and
// when that ends.
import { parse, stringify } from 'yaml';

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const DURATION = /(\d+)(ms|s|m|h|d)/g;
/** `[5m]`, `[1h:30s]`, `offset 10m`. */
const IN_EXPRESSION = /\[[^\]]*\]|\boffset\s+-?\d+\w+/g;

const divide = (text, by) =>
  text.replaceAll(
    DURATION,
    (_, amount, unit) => `${Math.round((amount * SECONDS[unit] * 1000) / by)}ms`,
  );

/** @returns {string} the PromQL with its windows and offsets divided */
export const shortenExpression = (expression, by) =>
  expression.replaceAll(IN_EXPRESSION, (window) => divide(window, by));

/**
 * @param {string} yaml the rules
 * @param {number} by
 * @returns {string} the same, evaluated each second, as YAML
 */
export function shortenRules(yaml, by) {
  const { groups } = parse(yaml);
  for (const group of groups) {
    group.interval = '1s';
    for (const rule of group.rules) {
      rule.expr = shortenExpression(rule.expr, by);
      if (rule.for) rule.for = divide(rule.for, by);
      if (rule.keep_firing_for) rule.keep_firing_for = divide(rule.keep_firing_for, by);
    }
  }
  return stringify({ groups });
}
