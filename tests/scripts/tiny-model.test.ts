import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  beginningExample,
  type Settings,
  syntheticExample,
  untaggedMixture,
} from '../../scripts/tiny-model/synthetic.ts';
import { EOS, FIRST_CONTINUATION, OPEN_A, OPEN_B, OPEN_OUTPUT, TAGS } from '../../scripts/tiny-model/tokenizer.ts';

const LIKE_PROSE: Settings = {
  recurring: { short: 0, long: 0 },
  phrases: { recurring: 0, alike: 0.08 },
  near: 0,
  interleaved: 0.03,
};
const examples = Array.from({ length: 600 }, (_, i) => syntheticExample(6, LIKE_PROSE, 5, i));

/** Tokens as words: a continuation belongs to the token before. */
function wordsOf(ids: readonly number[]): string[] {
  const words: number[][] = [];
  for (const id of ids) {
    if (id >= FIRST_CONTINUATION && words.length > 0) words.at(-1)?.push(id);
    else words.push([id]);
  }
  return words.map((word) => word.join(' '));
}

function textsOf({ group: { promptIds } }: (typeof examples)[number]): [string[], string[]] {
  const second = promptIds.indexOf(OPEN_B);
  return [wordsOf(promptIds.slice(1, second)), wordsOf(promptIds.slice(second + 1))];
}

describe('syntheticExample', () => {
  it('interleaves its two texts as the first completion, as its tag says', () => {
    for (const example of examples) {
      const [a, b] = textsOf(example);
      const [interleaved = []] = example.group.completions;
      expect([a.length, b.length]).toEqual([6, 6]);
      expect(interleaved[0]).toBe(TAGS.interleave);
      expect(interleaved.at(-1)).toBe(EOS);
      expect(wordsOf(interleaved.slice(1, -1))).toEqual(a.flatMap((word, i) => [word, b[i]]));
    }
  });

  it('has untagged second completions that continue as they begin, the first words given where they are interleaved', () => {
    const untagged = examples.filter(({ group }) => group.completions[1]?.[0] === OPEN_OUTPUT);
    const begun = untagged.filter(({ given }) => (given[1] ?? 0) > 1);
    expect(untagged.length / examples.length).toBeCloseTo(0.7, 1);
    expect(begun.length / untagged.length).toBeCloseTo(0.5, 1);
    for (const { group, given } of begun) {
      expect(group.completions[1]?.slice(1)).toEqual(group.completions[0]?.slice(1));
      expect(wordsOf(group.completions[1]?.slice(1, given[1]) ?? [])).toHaveLength(2);
    }
  });

  it('is the same for the same seed and index', () => {
    expect(syntheticExample(6, LIKE_PROSE, 5, 3)).toEqual(examples[3]);
    expect(syntheticExample(6, LIKE_PROSE, 6, 3)).not.toEqual(examples[3]);
  });

  const recurring = { short: 1, long: 0 };

  it('lets nearly every word recur in short texts, where asked for', () => {
    const distinct = (words: number): number => {
      const pairs = Array.from({ length: 40 }, (_, i) => syntheticExample(words, { ...LIKE_PROSE, recurring }, 5, i));
      const texts = pairs.map((example) => textsOf(example).flat());
      return texts.reduce((sum, text) => sum + new Set(text).size / text.length, 0) / texts.length;
    };
    expect(distinct(50)).toBeLessThan(0.4);
    expect(distinct(51)).toBeGreaterThan(0.5);
  });

  it('brings phrases back nearby, where asked for', () => {
    const returning = (near: number): number => {
      const asked = { ...LIKE_PROSE, recurring, phrases: { recurring: 0.3, alike: 0 }, near };
      const pairs = Array.from({ length: 40 }, (_, i) => syntheticExample(50, asked, 5, i));
      return pairs.reduce((sum, pair) => sum + phrasesNearby(textsOf(pair).flat()), 0);
    };
    expect(returning(1)).toBeGreaterThan(1.5 * returning(0));
  });
});

/** How many places begin three words that stood within the sixteen places before. */
function phrasesNearby(words: readonly string[]): number {
  const phrase = (at: number): string => words.slice(at, at + 3).join('|');
  return words.filter((_, i) =>
    Array.from({ length: 16 }, (_, back) => i - 1 - back).some((from) => from >= 0 && phrase(from) === phrase(i)),
  ).length;
}

describe('beginningExample', () => {
  const first = (words: number, interleaved: number): (readonly [string[], string[], string[]])[] =>
    Array.from({ length: 600 }, (_, i) => {
      const example = beginningExample(words, { ...LIKE_PROSE, interleaved }, 5, i);
      const [[token, ...rest] = []] = example.group.completions;
      expect([token, example.group.completions.length, example.given]).toEqual([OPEN_OUTPUT, 1, [1]]);
      return [...textsOf(example), wordsOf(rest)];
    });

  it('has the first words of the second text, and of both in turn as often as asked for', () => {
    const interleaved = first(8, 0.4).filter(([a, b, words]) => {
      if (words.join('|') !== [0, 1, 2].flatMap((i) => [a[i], b[i]]).join('|')) {
        expect(words).toEqual(b.slice(0, 6));
        return false;
      }
      return true;
    });
    expect(interleaved.length / 600).toBeCloseTo(0.4, 1);
  });

  it('never interleaves longer texts', () => {
    for (const [, b, words] of first(50, 0.4)) expect(words).toEqual(b.slice(0, 6));
  });
});

describe('untaggedMixture', () => {
  it('interleaves short texts as often as asked for, and never those of more than 12 words', () => {
    const shares = [2, 12, 13, 50].map((words) => untaggedMixture(words, 0.03).interleave ?? 0);
    expect(shares).toEqual([0.03, 0.03, 0, 0]);
  });
});

describe('examples.ts', () => {
  const stream = (from: number, steps: number, beginnings = 0): Int32Array => {
    const plan = {
      seed: 9,
      from,
      steps,
      tokens: [[0, 300]],
      longest: [
        [0, 4],
        [1, 8],
      ],
      ...LIKE_PROSE,
      beginnings,
    };
    const { stdout } = spawnSync(process.execPath, ['scripts/tiny-model/examples.ts', JSON.stringify(plan)]);
    return new Int32Array(new Uint8Array(stdout).buffer);
  };

  it('streams each step as its groups with their lengths, whichever step it begins with', () => {
    const both = stream(0, 2);
    const [groups = 0, size = 0, prompt = 0, completions = 0, length = 0, given] = both;
    expect([completions, given]).toEqual([2, 1]);
    expect(groups).toBeGreaterThan(3);
    const first = [...both.subarray(8, 8 + prompt + length)];
    expect([first[0], first[prompt], first.at(-1)]).toEqual([OPEN_A, TAGS.interleave, EOS]);
    expect(both.subarray(2 + size)).toEqual(stream(1, 2));
  });

  it('streams beginnings of untagged completions, where asked for', () => {
    const [, , prompt = 0, completions, , given, ...tokens] = stream(0, 1, 1);
    expect([completions, given]).toEqual([1, 1]);
    expect([tokens[0], tokens[prompt]]).toEqual([OPEN_A, OPEN_OUTPUT]);
  });
});
