import { describe, expect, it } from 'vitest';
import { doublesBraces, fillIn } from '../../../main/tasks/folder/template.ts';

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

describe('fillIn', () => {
  it('leaves braces that surround no name', () => {
    expect(fillIn('{"name": "{name}", "in": {"year": {year}}} {{name}}', { name: 'Ada', year: 1815 })).toBe(
      '{"name": "Ada", "in": {"year": 1815}} {name}',
    );
  });
});
