import { type Answer, json, schemaFaults } from 'braid';

type Fields = { schema: object; expected?: Record<string, unknown> };

/**
 * The components build on one another: what doesn't parse can't fit. `json` also finds an object in a code block or after
 * "Sure, here is …"; JSON.parse(completion) in a try takes only one that stands alone.
 */
export function reward({ record, completion }: Answer<Fields>): Record<string, number> {
  const value = json(completion);
  if (value === undefined) return { parses: 0, fits: 0, right: 0 };
  const fits = schemaFaults(value, record.schema).length === 0;
  return { parses: 1, fits: fits ? 1 : 0, right: fits ? shareRight(value, record.expected ?? {}) : 0 };
}

/** The share of the expected fields whose values are right. */
function shareRight(value: unknown, expected: Record<string, unknown>): number {
  const fields = Object.entries(expected);
  if (fields.length === 0) return 1;
  // A schema without a type fits null and lists, too, which have no fields.
  const given = isObject(value) ? value : {};
  return fields.filter(([name, right]) => same(given[name], right)).length / fields.length;
}

/** Whether two JSON values are equal, in whatever order their fields are. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
