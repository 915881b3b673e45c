import { describe, expect, it } from 'vitest';
import { schemaFaults } from '../../../main/tasks/sandbox/json-schema.ts';

const schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1 },
    age: { type: ['integer', 'null'], minimum: 0 },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
    kind: { const: 'person' },
  },
};

describe('schemaFaults', () => {
  it('finds nothing wrong with a value that fits', () => {
    expect(schemaFaults({ name: 'Mina', age: null, tags: ['a', 'b'], kind: 'person' }, schema)).toEqual([]);
    expect(schemaFaults(3, {})).toEqual([]);
    expect(schemaFaults({ b: [{ d: 1, c: 2 }], a: 1 }, { const: { a: 1, b: [{ c: 2, d: 1 }] } })).toEqual([]);
  });

  it.each([
    [[], 'to be of type object'],
    [{}, 'to have "name"'],
    [{ name: '' }, 'length to be at least 1'],
    [{ name: 'x', age: 1.5 }, '"age" to be of type integer or null'],
    [{ name: 'x', age: -1 }, '"age" to be at least 0'],
    [{ name: 'x', tags: ['c'] }, '"tags"[0] to be one of "a", "b"'],
    [{ name: 'x', tags: ['a', 'b', 'a'] }, 'number of items to be at most 2'],
    [{ name: 'x', kind: 'cat' }, '"kind" to be "person"'],
    [{ name: 'x', more: 1 }, 'to have no "more"'],
  ])('names what is wrong with %j', (value, fault) => {
    expect(schemaFaults(value, schema).join()).toContain(fault);
  });
});
