import { describe, expect, it } from 'vitest';
import type { PromptSource } from '../../../main/services/model-comparisons.ts';
import type { ModelEntry } from '../../../main/services/model-list.ts';
import { choiceOf, firstChoice, linkTo, obstacle } from '../../../renderer/compare/choice.ts';

function model(ref: string, kind: ModelEntry['kind'], problem: string | null = null): ModelEntry {
  return {
    ...{ ref, kind, name: ref, model: ref, folder: ref, run: null, checkpointId: null, step: null },
    ...{ checkpointKind: null, createdAt: null, architecture: null, parameters: null, deleted: false, problem },
    ...{ architecture: null, parameters: null },
  };
}

function source(datasetId: number, heldOut: number, problem: string | null = null): PromptSource {
  return { datasetId, name: `d${datasetId}`, words: 10, heldOut, problem };
}

const models = [
  model('bundled:bad', 'bundled', 'unreadable'),
  model('bundled:tiny', 'bundled'),
  model('checkpoint:2', 'checkpoint', 'deleted'),
  model('checkpoint:1', 'checkpoint'),
];

describe('firstChoice', () => {
  it('takes what can be used: a whole model, the newest checkpoint, the newest dataset', () => {
    const sources = [source(1, 300), source(3, 20, 'gone'), source(2, 40)];
    expect(firstChoice(models, sources)).toEqual({
      ...{ baseline: 'bundled:tiny', models: ['checkpoint:1'], datasetIds: [2], n: 40, seed: 42 },
    });
  });

  it('leaves open what there is none of', () => {
    const choice = firstChoice([], []);
    expect(choice).toMatchObject({ baseline: null, models: [], datasetIds: [] });
    expect(obstacle(choice)).toMatch('baseline');
  });
});

describe('choiceOf', () => {
  it('reads back what a link asks', () => {
    const asked = {
      baseline: 'folder:/a b',
      models: ['checkpoint:1', 'checkpoint:2'],
      datasetIds: [4, 5],
      n: 7,
      seed: 0,
    };
    expect(choiceOf(linkTo(asked).split('?')[1] ?? '', firstChoice([], []))).toEqual(asked);
  });

  it('keeps the rest, also where the link makes no sense', () => {
    const otherwise = firstChoice(models, [source(2, 40)]);
    expect(choiceOf('n=many&seed=-1&dataset=x', otherwise)).toEqual(otherwise);
  });
});

describe('obstacle', () => {
  const whole = { baseline: 'a', models: ['b'], datasetIds: [1], n: 1, seed: 1 };
  it.each([
    [{ ...whole, baseline: null }, 'baseline'],
    [{ ...whole, models: [] }, 'at least one model'],
    [{ ...whole, models: ['b', 'a'] }, 'also among'],
    [{ ...whole, datasetIds: [] }, 'dataset'],
  ])('says what is missing', (choice, words) => {
    expect(obstacle(choice)).toMatch(words);
  });
  it('is none for a whole choice', () => expect(obstacle(whole)).toBeNull());
});
