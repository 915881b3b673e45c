import { describe, expect, it } from 'vitest';
import { generateCurriculum, generateDataset } from '../../../main/services/datasets/generate.ts';
import type { InterleaveRecord } from '../../../main/tasks/interleave/record.ts';
import { parseInterleaveRecord } from '../../../main/tasks/interleave/record.ts';
import { madeTexts } from '../texts/made-texts.ts';

const texts = madeTexts(40, 60, 60, 80, 80, 90, 120, 150, 200, 300);
const byTitle = new Map(texts.map((text) => [text.title, ` ${text.text} `]));

function generated(options: Partial<Parameters<typeof generateDataset>[0]> = {}) {
  const made = generateDataset({ texts, words: 25, train: 40, test: 12, ...options });
  if (made.kind !== 'dataset') throw new Error(made.reason);
  return made;
}

const sources = (records: readonly InterleaveRecord[]) => new Set(records.flatMap((r) => [r.title_a, r.title_b]));

describe('generateDataset', () => {
  it('makes the asked number of sound records', () => {
    const { train, test } = generated();
    expect([train.length, test.length]).toEqual([40, 12]);
    for (const record of [...train, ...test]) {
      expect(parseInterleaveRecord(record)).toEqual(record);
      expect(record.words).toBe(25);
      expect(record.title_a).not.toBe(record.title_b);
      expect(byTitle.get(record.title_a)).toContain(` ${record.fragment_a} `);
      expect(byTitle.get(record.title_b)).toContain(` ${record.fragment_b} `);
      expect(record.prompt).toContain(`Process A reads: ${record.fragment_a}\n`);
    }
    expect(train[6]?.id).toBe('25w-train-0007');
    expect(test[0]?.id).toBe('25w-test-0001');
  });

  it('never uses a text on both sides, in no stage', () => {
    const stages = generateCurriculum({ texts, stages: [10, 25, 50, 60], train: 30, test: 10 });
    const sides = stages.map((stage) => (stage.kind === 'dataset' ? stage : { train: [], test: [] }));
    const trained = sources(sides.flatMap((side) => side.train));
    expect([...sources(sides.flatMap((side) => side.test))].filter((title) => trained.has(title))).toEqual([]);
    expect(stages.every((stage) => stage.kind === 'dataset')).toBe(true);
  });

  it('is determined by the seed', () => {
    expect(generated({ seed: 3 })).toEqual(generated({ seed: 3, texts: [...texts].reverse() }));
    expect(generated({ seed: 3 }).train).not.toEqual(generated({ seed: 4 }).train);
  });

  it('makes the same records of a stage, alone or in a curriculum', () => {
    const [, stage] = generateCurriculum({ texts, stages: [10, 25], train: 40, test: 12 });
    expect(stage).toEqual(generated());
  });

  it('has no pair twice, down to the last one there is', () => {
    // Two texts of 11 words have two offsets each: 2 x 2 cuts in either order.
    const few = madeTexts(11, 11, 11, 11);
    const { train, test } = generated({ texts: few, words: 10, train: 8, test: 8 });
    for (const side of [train, test]) expect(new Set(side.map((record) => record.prompt)).size).toBe(8);
  });

  it('puts copies of a text on one side only', () => {
    const copied = [
      ...texts,
      ...texts.map((text) => ({ ...text, id: `${text.id}-copy`, title: `${text.title} copy` })),
    ];
    expect(generated({ texts: copied })).toEqual(generated());
  });

  it('uses the template that it is given', () => {
    const template = { name: 'short', version: 2, text: '{words}: {fragment_a} + {fragment_b}' };
    expect(generated({ template }).train[0]?.prompt).toMatch(/^25: /);
  });

  it('says how many texts and words are missing', () => {
    expect(generateDataset({ texts, words: 180 })).toMatchObject({
      kind: 'shortage',
      words: 180,
      supply: { texts: 2, missing_texts: 2, missing_words: 30 + 60 },
      reason:
        '180 words: expected at least 4 texts of 180 words or more, got 2; add 2 such texts, or 90 words to the longest of the others',
    });
    const short = generateDataset({ texts: madeTexts(11, 11, 11, 11), words: 10, train: 9, test: 1 });
    expect(short).toMatchObject({
      reason:
        '10 words: expected 9 different training pairs, but the texts allow only 8; add longer texts, or reduce the number of pairs',
    });
    expect(generateDataset({ texts: madeTexts(11, 11, 11, 11), words: 10, train: 8, test: 9 })).toMatchObject({
      reason:
        '10 words: expected 9 different test pairs, but the texts allow only 8; add longer texts, or reduce the number of pairs',
    });
  });

  it('makes the other stages when one is short', () => {
    const kinds = generateCurriculum({ texts, stages: [10, 500, 25], train: 10, test: 5 }).map((stage) => stage.kind);
    expect(kinds).toEqual(['dataset', 'shortage', 'dataset']);
  });

  it.each([
    [{ words: 0 }, 'Expected "words" to be a whole number of at least 1, got 0'],
    [{ train: 1.5 }, 'Expected "train" to be a whole number of at least 1, got 1.5'],
    [{ test: -1 }, 'Expected "test" to be a whole number of at least 1, got -1'],
    [{ template: { name: 'x', version: 1, text: 'no' } }, 'Prompt template "x": expected the placeholders'],
  ])('refuses %j', (options, message) => {
    expect(() => generated(options)).toThrow(message);
  });
});
