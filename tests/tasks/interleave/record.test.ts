import { describe, expect, it } from 'vitest';
import { parseInterleaveRecord } from '../../../main/tasks/interleave/record.ts';

const record = {
  id: '2w-train-0001',
  words: 2,
  title_a: 'Numbers',
  title_b: 'Colours',
  fragment_a: 'one two',
  fragment_b: 'red blue',
  prompt: 'Interleave: one two / red blue',
  target: 'one red two blue',
};

describe('parseInterleaveRecord', () => {
  it('takes a good record and leaves out fields it does not know', () => {
    expect(parseInterleaveRecord({ ...record, note: 1 })).toEqual(record);
  });

  it('takes fragments of different lengths', () => {
    const longer = { ...record, words: 3, fragment_a: 'one two three', target: 'one red two blue three' };
    expect(parseInterleaveRecord(longer).target).toBe('one red two blue three');
  });

  it.each([
    [[], 'expected an object with the fields of an interleave record, got []'],
    [null, 'expected an object with the fields of an interleave record, got null'],
    [{ ...record, words: 'ten' }, 'expected "words" to be a whole number, got "ten"'],
    [{ ...record, words: 0 }, 'expected "words" to be a whole number of at least 1, got 0'],
    [{ ...record, words: 3 }, `expected "words" to be the fragments' word count 2, got 3`],
    [{ ...record, id: '' }, 'expected "id" to be a string that is not empty, got ""'],
    [{ ...record, prompt: undefined }, 'expected "prompt" to be a string, got nothing'],
    [{ ...record, fragment_a: ' ' }, 'expected "fragment_a" to be a string with at least one word, got " "'],
    [{ ...record, target: 'one two red blue' }, 'got "two" instead of "red" as word 2'],
    [{ ...record, target: 'one red two' }, 'got nothing instead of "blue" as word 4'],
    [{ ...record, target: 'one red two blue more' }, 'got "more" instead of nothing as word 5'],
    [{ ...record, id: 1, target: 2 }, 'expected "id" to be a string, got 1; expected "target" to be a string, got 2'],
  ])('refuses %j', (value, message) => {
    expect(() => parseInterleaveRecord(value)).toThrow(message);
  });
});
