import { describe, expect, it } from 'vitest';
import { partsAmong, shortened, tellApart } from '../../../renderer/components/tell-apart.ts';

const of = (...names: string[]) => names.map(tellApart(names)).map(({ start, end }) => `${start}|${end}`);

describe('tellApart', () => {
  it.each([
    [
      'checkpoints of one run',
      ['ten-words-all-checkpoints · step 100', 'ten-words-all-checkpoints · step 200'],
      ['ten-words-all-checkpoints| · step 100', 'ten-words-all-checkpoints| · step 200'],
    ],
    [
      'beside a name that shares nothing',
      ['tiny', 'warm-start-long-name · step 5', 'warm-start-long-name · step 50'],
      ['|tiny', 'warm-start-long-name| · step 5', 'warm-start-long-name| · step 50'],
    ],
    [
      'seeds of an experiment',
      ['learning-rates/seed_42', 'learning-rates/seed_43'],
      ['learning-rates|/seed_42', 'learning-rates|/seed_43'],
    ],
    [
      'words',
      ['a-rather-long-name-red', 'a-rather-long-name-blue'],
      ['a-rather-long-name-|red', 'a-rather-long-name-|blue'],
    ],
    [
      'nothing off a start that is too short to be shortened',
      ['Weather Log, North Skerry Station', 'Waiting for the Replacement Bus', 'I. The Mortar Is Wet Yet'],
      ['|Weather Log, North Skerry Station', '|Waiting for the Replacement Bus', '|I. The Mortar Is Wet Yet'],
    ],
    [
      'nothing off where the difference is near the start of a long name',
      ["Clerk's Summary: The Matter of the Walnut Tree", "Clerk's Minutes of the Meeting about the Walnut Tree"],
      ["|Clerk's Summary: The Matter of the Walnut Tree", "|Clerk's Minutes of the Meeting about the Walnut Tree"],
    ],
    [
      'whole characters',
      ['模型模型模型模型模型模型模型模型👩‍🔬', '模型模型模型模型模型模型模型模型👩‍🚀'],
      ['模型模型模型模型模型模型模型模型|👩‍🔬', '模型模型模型模型模型模型模型模型|👩‍🚀'],
    ],
    [
      'no marks',
      ['abcdefghijklmnopqrstuvwxyz1', 'abcdefghijklmnopqrstuvwxyz2'],
      ['abcdefghijklmnopqrstuvwxyz|1', 'abcdefghijklmnopqrstuvwxyz|2'],
    ],
    [
      'a name that another begins with',
      ['the-long-name-of-a-run', 'the-long-name-of-a-run-2'],
      ['the-long-name-of-a-|run', 'the-long-name-of-a-|run-2'],
    ],
    [
      'names that another has the end of',
      [
        'a-sweep-of-rates, rate 0041/seed_1',
        'a-sweep-of-rates, rate 0041/seed_2',
        'a-sweep-of-rates, rate 0042/seed_1',
      ],
      [
        'a-sweep-of-rates, rate |0041/seed_1',
        'a-sweep-of-rates, rate 0041|/seed_2',
        'a-sweep-of-rates, rate |0042/seed_1',
      ],
    ],
    [
      'names whose ends are too long to keep',
      [
        'red-and-a-very-long-common-ending/seed_1',
        'blue-and-a-very-long-common-ending/seed_1',
        'blue-and-a-very-long-common-ending/seed_2',
      ],
      [
        '|red-and-a-very-long-common-ending/seed_1',
        'blue-and-a-very-long-common-ending|/seed_1',
        'blue-and-a-very-long-common-ending|/seed_2',
      ],
    ],
    ['short names, and one alone', ['run 7 · step 5', 'run 7 · step 6'], ['|run 7 · step 5', '|run 7 · step 6']],
    [
      'the same twice',
      ['one-and-the-same-name', 'one-and-the-same-name'],
      ['|one-and-the-same-name', '|one-and-the-same-name'],
    ],
  ])('splits %s', (_, names, expected) => expect(of(...names)).toEqual(expected));

  it('leaves a name alone that is not among them', () => {
    expect(tellApart(['a'])('another-name-altogether')).toEqual({ start: '', end: 'another-name-altogether' });
  });
});

describe('partsAmong', () => {
  it('splits one name as it is split among all', () => {
    const names = ['ten-words-all-checkpoints · step 100', 'ten-words-all-checkpoints · step 200', 'a long base model'];
    const sweep = [1, 2, 11, 12].map((i) => `a-sweep-of-rates, rate 00${Math.ceil(i / 10)}/seed_${i % 10}`);
    for (const all of [names, sweep])
      for (const name of all) expect(partsAmong(all, name)).toEqual(tellApart(all)(name));
  });
});

describe('shortened', () => {
  it('keeps names apart in so many characters', () => {
    const names = [100, 200, 1200].map((step) => `ten-words-all-checkpoints/seed_42 · step ${step}`);
    const short = names.map(tellApart(names)).map((parts) => shortened(parts, 24));
    expect(short).toEqual(['ten-words-al… · step 100', 'ten-words-al… · step 200', 'ten-words-a… · step 1200']);
  });

  it('cuts an end that is too long itself, and nothing that fits', () => {
    expect(shortened({ start: 'abc', end: 'x'.repeat(40) }, 20)).toBe(`abc…${'x'.repeat(15)}…`);
    expect(shortened({ start: 'abc', end: 'def' }, 20)).toBe('abcdef');
    expect(shortened({ start: 'a👍👍👍👍👍', end: 'x'.repeat(14) }, 20)).toBe(`a👍👍…${'x'.repeat(14)}`);
  });
});
