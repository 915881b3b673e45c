import { describe, expect, it } from 'vitest';
import { fillForm, fillText, placesIn, valueAt } from '../../../main/tasks/openenv/form.ts';

const values = {
  seed: 7,
  tags: ['a', 'b'],
  deep: { x: { y: 1.5 } },
  completion: 'So: <move> e2e4 </move>\nor 3, then 4.5',
};
const lookup = (name: string): unknown => valueAt(values, name);
const fill = (form: unknown): unknown => fillForm(form, lookup);

describe('fillForm', () => {
  it('keeps the type of what stands alone, and writes it out inside a text', () => {
    expect(fill({ a: '{seed}', b: ['{tags}', '{deep.x.y}'], c: 'game {seed}: {tags}', d: 4, e: null })).toEqual({
      a: 7,
      b: [['a', 'b'], 1.5],
      c: 'game 7: ["a","b"]',
      d: 4,
      e: null,
    });
    expect(fill('{tags.1}')).toBe('b');
    expect(fill('{{seed}} {nothing}')).toBe('{seed} ');
  });

  it.each([
    ['{completion:last-number}', 4.5],
    ['{completion:<move>}', 'e2e4'],
    ['{completion:first-line:lower}', 'so: <move> e2e4 </move>'],
    ['{completion:last-line}', 'or 3, then 4.5'],
    ['play {completion:<move>}!', 'play e2e4!'],
  ])('takes a part of a text: %s', (form, taken) => expect(fill(form)).toBe(taken));

  it.each([
    ['{completion:json}', 'expected JSON in the answer'],
    ['{completion:<guess>}', 'expected <guess>…</guess> in the answer'],
    ['{deep:last-number:last-number:json:<a>}', 'expected <a>…</a> in the answer'],
  ])('says what the answer lacks: %s', (form, why) => expect(() => fill(form)).toThrow(why));

  it('reads JSON and code from what a model wrote around them', () => {
    const said = (text: string, take: string): unknown => fillForm(`{completion:${take}}`, () => text);
    expect(said('I do this:\n```json\n{"tool": "move"}\n```', 'json')).toEqual({ tool: 'move' });
    expect(said('```python\nprint(1)\n```', 'code')).toBe('print(1)\n');
    expect(said('print(1)', 'code')).toBe('print(1)');
  });

  it('fills values in once, whatever they contain', () => {
    expect(fillText('{a}', () => '{seed} $& {{b}}')).toBe('{seed} $& {{b}}');
  });
});

it('looks for code once in a text of backticks', () => {
  const began = performance.now();
  expect(fillText('{a:code}', () => '`'.repeat(60_000))).toHaveLength(60_000);
  expect(performance.now() - began).toBeLessThan(1000);
});

describe('placesIn', () => {
  it('finds each name with what is taken of it', () => {
    expect(placesIn({ a: '{seed} {{no}}', b: ['{x.y:trim:json}'] })).toEqual([
      { name: 'seed', takes: [] },
      { name: 'x.y', takes: ['trim', 'json'] },
    ]);
  });
});
