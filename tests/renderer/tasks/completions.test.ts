import { describe, expect, it } from 'vitest';
import { completionsFor } from '../../../renderer/tasks/completions.ts';

const facts = {
  functions: [{ name: 'lastNumber', signature: '(text: string) => number', about: 'The last number of a text.' }],
  fields: { answer: 'number' },
};

/** The completions with the cursor behind `text`. */
function at(text: string, explicit = false) {
  const matchBefore = (pattern: RegExp) => {
    const found = pattern.exec(text);
    return found === null ? null : { from: found.index, to: text.length, text: found[0] };
  };
  return completionsFor({ matchBefore, explicit }, facts);
}
const labels = (text: string, explicit = false) => at(text, explicit)?.options.map(({ label }) => label) ?? null;

describe('completionsFor', () => {
  it("offers the record's fields with their types after its dot, from there on", () => {
    expect(labels('return record.an')).toEqual(['answer', 'id', 'prompt']);
    expect(at('return record.an')).toMatchObject({ from: 'return record.'.length });
    expect(at('record.')?.options[0]).toMatchObject({ label: 'answer', detail: 'number' });
  });

  it('offers our text functions and the answer for a word', () => {
    expect(labels('las')).toEqual(expect.arrayContaining(['lastNumber', 'record', 'completion', 'tokens', 'finish']));
    expect(at('const x = las')).toMatchObject({ from: 10 });
  });

  it('stays quiet after other dots, and between words until it is asked', () => {
    expect(labels('text.le')).toBeNull();
    expect(labels('a + ')).toBeNull();
    expect(labels('a + ', true)).toContain('lastNumber');
  });
});
