/**
 * The part of JSON Schema that describes the shape of an answer: type, enum, const, required, properties,
 * additionalProperties (false), items, minItems, maxItems, minimum, maximum, minLength, maxLength. Other keywords are ignored.
 */

type Schema = Readonly<Record<string, unknown>>;

/** More are not told apart by a reward. */
const MOST_FAULTS = 20;

/** What is wrong with a value, a sentence each; empty: it fits. */
export function schemaFaults(value: unknown, schema: unknown): string[] {
  const faults: string[] = [];
  check(value, schema, 'the value', faults);
  return faults.slice(0, MOST_FAULTS);
}

function check(value: unknown, schema: unknown, where: string, faults: string[]): void {
  if (!isObject(schema) || faults.length >= MOST_FAULTS) return;
  const types = listed(schema.type).map(String);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    faults.push(`expected ${where} to be of type ${types.join(' or ')}`);
    return;
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => same(allowed, value)))
    faults.push(`expected ${where} to be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}`);
  if ('const' in schema && !same(schema.const, value))
    faults.push(`expected ${where} to be ${JSON.stringify(schema.const)}`);
  if (typeof value === 'number') range(value, schema, ['minimum', 'maximum'], where, faults);
  if (typeof value === 'string')
    range([...value].length, schema, ['minLength', 'maxLength'], `${where}'s length`, faults);
  if (Array.isArray(value)) {
    range(value.length, schema, ['minItems', 'maxItems'], `${where}'s number of items`, faults);
    value.forEach((item, i) => void check(item, schema.items, `${where}[${i}]`, faults));
  } else if (isObject(value)) checkFields(value, schema, where, faults);
}

function checkFields(value: Schema, schema: Schema, where: string, faults: string[]): void {
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const name of listed(schema.required).map(String))
    if (!Object.hasOwn(value, name)) faults.push(`expected ${where} to have "${name}"`);
  for (const [name, field] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) check(field, properties[name], `"${name}"`, faults);
    else if (schema.additionalProperties === false) faults.push(`expected ${where} to have no "${name}"`);
  }
}

function range(
  value: number,
  schema: Schema,
  [least, most]: readonly [string, string],
  where: string,
  faults: string[],
): void {
  const [low, high] = [schema[least], schema[most]];
  if (typeof low === 'number' && value < low) faults.push(`expected ${where} to be at least ${low}`);
  if (typeof high === 'number' && value > high) faults.push(`expected ${where} to be at most ${high}`);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return isObject(value);
  return typeof value === type;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listed(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function same(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

/** As JSON; the order of an object's fields isn't part of its value. */
function sorted(value: unknown): string {
  const fields = (part: Schema) => Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(value, (_, part: unknown) => (isObject(part) ? Object.fromEntries(fields(part)) : part));
}
