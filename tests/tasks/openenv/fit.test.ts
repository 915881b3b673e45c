import { describe, expect, it } from 'vitest';
import { fitFaults, suggestedAction, suggestedMessage } from '../../../main/tasks/openenv/fit.ts';

const object = (properties: object, required: readonly string[] = [], more: object = {}) => ({
  type: 'object',
  properties: { metadata: {}, ...properties },
  required,
  ...more,
});

describe('fitFaults', () => {
  const schemas = {
    action: object({ guess: {}, note: {} }, ['guess'], { additionalProperties: false }),
    observation: object({ hint: {}, done: {}, reward: {} }),
  };

  it('finds nothing in forms that fit, or where the server says nothing', () => {
    const form = { action: { guess: '{completion}' }, message: '{hint} {state.turn} {reward} {observation}' };
    expect(fitFaults(form, schemas)).toEqual([]);
    expect(fitFaults({ action: { a: 1 }, message: '{b}' }, { action: null, observation: null })).toEqual([]);
    expect(fitFaults({ ...form, action: '{completion:json}' }, schemas)).toEqual([]);
  });

  it('names what the forms have too much, lack or misspell', () => {
    const faults = fitFaults({ action: { nte: '{completion}' }, message: '{hin} {colour}' }, schemas);
    expect(faults).toEqual([
      'environment.action has "nte", which the server\'s actions don\'t have; did you mean "note"?',
      'environment.action lacks "guess", which the server\'s actions need',
      'environment.message names {hin}, which the server\'s observations don\'t have; did you mean "hint"?',
      "environment.message names {colour}, which the server's observations don't have; they have hint",
    ]);
  });
});

describe('suggestedAction', () => {
  it.each([
    [object({ guess: { type: 'integer' } }, ['guess']), { guess: '{completion:last-number}' }],
    [object({ text: { type: 'string' }, note: {} }, ['text']), { text: '{completion:trim}' }],
    [object({ board: { type: 'array' } }, ['board']), { board: '{completion:json}' }],
    [object({ x: {}, y: {} }, ['x', 'y']), '{completion:json}'],
    [object({}), '{completion:json}'],
    [null, '{completion:json}'],
  ])('is the form of %j', (schema, form) => expect(suggestedAction(schema)).toEqual(form));
});

describe('suggestedMessage', () => {
  it.each([
    [object({ hint: { type: 'string' }, left: { type: 'integer' }, reward: {} }), '{hint}'],
    [object({ board: { type: 'array' }, left: { type: 'integer' } }), 'board: {board}\nleft: {left}'],
    [object({ done: {} }), '{observation}'],
    [null, '{observation}'],
  ])('is a template for %j', (schema, message) => expect(suggestedMessage(schema)).toBe(message));
});
