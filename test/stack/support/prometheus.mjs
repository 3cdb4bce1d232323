// Prometheus' HTTP API.
import { getJson } from '../../../tools/http-client.cjs';

/**
 * @param {string} url
 * @param {string} expression
 * @returns {Promise<{ metric: Record<string, string>, value: number }[]>}
 */
export async function query(url, expression) {
  const { data } = await getJson(
    `${url}/api/v1/query?${new URLSearchParams({ query: expression })}`,
  );
  if (data.resultType === 'scalar') return [{ metric: {}, value: Number(data.result[1]) }];
  return data.result.map(({ metric, value, histogram }) => ({
    metric,
    value: Number(value?.[1] ?? histogram?.[1].count),
  }));
}

/** @returns {Promise<any[]>} every rule with its health */
export async function rules(url) {
  const { data } = await getJson(`${url}/api/v1/rules`);
  return data.groups.flatMap((group) => group.rules);
}
