import { describe, expect, it } from 'vitest';
import { doublesBraces, fillIn, foreignPlaces } from '../../../main/tasks/folder/template.ts';

describe('doublesBraces', () => {
  it.each([
    ['{{"name": "{name}"}}', true],
    ['{{ name }}', true],
    ['{"name": "{name}", "in": {"year": {year}}}', false],
    ['write {{name}} for {name}', false],
  ])('%s', (template, expected) => {
    expect(doublesBraces(template)).toBe(expected);
  });
});

describe('foreignPlaces', () => {
  it("finds what other templates read of a field, and nothing in JSON's braces", () => {
    const template = '{name} { name } {meta.key} {meta["a"]} {name!r} {name:>10} {other.x} {name: "x"} {{name}} {}';
    const places = ['{ name }', '{meta.key}', '{meta["a"]}', '{name!r}', '{name:>10}'];
    expect(foreignPlaces(template, ['name', 'meta'])).toEqual(places);
  });
});

describe('fillIn', () => {
  it('leaves braces that surround no name', () => {
    expect(fillIn('{"name": "{name}", "in": {"year": {year}}} {{name}}', { name: 'Ada', year: 1815 })).toBe(
      '{"name": "Ada", "in": {"year": 1815}} {name}',
    );
  });
});
