import { describe, expect, it } from 'vitest';
import { emptyForm, type Form, readForm } from '../../../renderer/playground/form.ts';

describe('readForm', () => {
  it('reads back what was stored', () => {
    const form: Form = {
      mode: 'record',
      task: 'follow-the-cue',
      from: { datasetId: 3, side: 'test' },
      index: 4,
      a: 'one',
      b: 'two',
      words: 5,
      template: 'process 1',
      temperature: 0.7,
      seed: 7,
      samples: 4,
      maxTokens: 30,
      stop: ['END'],
      models: ['bundled:tiny', '', 'checkpoint:3'],
    };
    expect(readForm(JSON.stringify(form))).toEqual(form);
  });

  it('falls back to the empty form for invalid parts', () => {
    expect(readForm(null)).toEqual(emptyForm);
    expect(readForm('{"a":1,"words":"5","models":[3],"temperature":null}')).toEqual(emptyForm);
    expect(readForm('{"mode":"both","task":1,"from":{"datasetId":"3","side":"test"},"index":-1}')).toEqual(emptyForm);
    expect(readForm('{"samples":99}').samples).toBe(16);
    expect(readForm('{"a":')).toEqual(emptyForm);
  });

  it('has no more lanes than fit', () => {
    expect(readForm(JSON.stringify({ models: ['a', 'b', 'c', 'd', 'e'] })).models).toHaveLength(4);
  });
});
