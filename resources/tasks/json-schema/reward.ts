import { type Answer, json, schemaFaults } from 'braid';

type Fields = { schema: object; expected?: Record<string, unknown> };

/** The components build on one another: what doesn't parse can't fit. */
export function reward({ record, completion }: Answer<Fields>): Record<string, number> {
  const value = json(completion);
  if (value === undefined) return { parses: 0, fits: 0, right: 0 };
  const fits = schemaFaults(value, record.schema).length === 0;
  return { parses: 1, fits: fits ? 1 : 0, right: fits ? shareRight(value, record.expected ?? value) : 0 };
}

/** The share of the expected fields whose values are right. */
function shareRight(value: Record<string, unknown>, expected: Record<string, unknown>): number {
  const names = Object.keys(expected);
  const right = names.filter((name) => JSON.stringify(value[name]) === JSON.stringify(expected[name]));
  return names.length === 0 ? 1 : right.length / names.length;
}
