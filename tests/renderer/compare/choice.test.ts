import { describe, expect, it } from 'vitest';
import type { PromptSource } from '../../../main/services/comparisons/paired/index.ts';
import type { ModelEntry } from '../../../main/services/models/list.ts';
import { choiceOf, choiceProblem, firstChoice, linkTo, shortcuts } from '../../../renderer/compare/choice.ts';
import { modelEntry } from '../model-entry.ts';

function model(ref: string, kind: ModelEntry['kind'], problem: string | null = null): ModelEntry {
  return modelEntry(ref, { kind, problem });
}

function source(datasetId: number, heldOut: number, problem: string | null = null): PromptSource {
  return { datasetId, name: `d${datasetId}`, task: 'interleave', words: 10, heldOut, leakage: null, problem };
}

const models = [
  model('bundled:bad', 'bundled', 'unreadable'),
  model('bundled:tiny', 'bundled'),
  model('checkpoint:2', 'checkpoint', 'deleted'),
  model('checkpoint:1', 'checkpoint'),
];

describe('firstChoice', () => {
  it('takes a dataset of one length before those of which none is known', () => {
    const mixed = { ...source(5, 10), words: null };
    const longer = { ...source(4, 10), words: 50 };
    expect(firstChoice(models, [mixed, longer]).datasetIds).toEqual([4]);
    expect(firstChoice(models, [mixed, { ...mixed, datasetId: 6 }]).datasetIds).toEqual([6]);
  });

  it('picks what is usable: a whole model, the newest checkpoint, the newest dataset', () => {
    const sources = [source(1, 300), source(3, 20, 'gone'), source(2, 40)];
    expect(firstChoice(models, sources)).toEqual({
      baseline: 'bundled:tiny',
      models: ['checkpoint:1'],
      datasetIds: [2],
      n: 40,
      seed: 42,
    });
  });

  it("leaves empty what doesn't exist", () => {
    const choice = firstChoice([], []);
    expect(choice).toMatchObject({ baseline: null, models: [], datasetIds: [] });
    expect(choiceProblem(choice)).toMatch('baseline');
  });
});

describe('choiceOf', () => {
  it('reads back what a link encodes', () => {
    const asked = {
      baseline: 'folder:/a b',
      models: ['checkpoint:1', 'checkpoint:2'],
      datasetIds: [4, 5],
      n: 7,
      seed: 0,
    };
    expect(choiceOf(linkTo(asked).split('?')[1] ?? '', firstChoice([], []))).toEqual(asked);
  });

  it('keeps the defaults for missing or invalid parts', () => {
    const defaults = firstChoice(models, [source(2, 40)]);
    expect(choiceOf('n=many&seed=-1&dataset=x', defaults)).toEqual(defaults);
  });
});

describe('choiceProblem', () => {
  const whole = { baseline: 'a', models: ['b'], datasetIds: [1], n: 1, seed: 1 };
  it.each([
    [{ ...whole, baseline: null }, 'baseline'],
    [{ ...whole, models: [] }, 'at least one model'],
    [{ ...whole, models: ['b', 'a'] }, 'also among'],
    [{ ...whole, datasetIds: [] }, 'dataset'],
  ])('says what is missing', (choice, words) => {
    expect(choiceProblem(choice)).toMatch(words);
  });
  it('is null for a complete choice', () => expect(choiceProblem(whole)).toBeNull());
});

describe('shortcuts', () => {
  const checkpoint = (
    step: number,
    heldOut: number | null,
    run = { id: 2, name: 'b' },
    problem: string | null = null,
  ) => ({ ref: `checkpoint:${step}`, run, step, heldOut, problem });

  it("offers the newest run's best checkpoint, the later of two equals, and all of them", () => {
    const entries = [
      { ref: 'bundled:tiny', run: null, step: null, heldOut: null, problem: null },
      checkpoint(40, 0.8, { id: 3, name: 'newer' }, 'deleted'),
      checkpoint(30, 0.9),
      checkpoint(20, 0.9),
      checkpoint(10, null),
      checkpoint(50, 1, { id: 1, name: 'a' }),
    ];
    expect(shortcuts(entries)).toEqual([
      { label: 'Best checkpoint of b (step 30)', models: ['checkpoint:30'] },
      { label: 'All 3 checkpoints of b', models: ['checkpoint:30', 'checkpoint:20', 'checkpoint:10'] },
    ]);
  });

  it('says "both" of two', () => {
    const labels = shortcuts([checkpoint(20, 0.9), checkpoint(10, 0.8)]).map(({ label }) => label);
    expect(labels).toEqual(['Best checkpoint of b (step 20)', 'Both checkpoints of b']);
  });

  // Compared pair by pair, two thousand would hold up the screen.
  it('reads each checkpoint a few times, however many there are', () => {
    let reads = 0;
    const counted = Array.from({ length: 300 }, (_, i) => ({
      ...checkpoint(i, null),
      get run() {
        reads++;
        return { id: i, name: `run ${i}` };
      },
    }));
    expect(shortcuts(counted)).toEqual([]);
    expect(reads).toBeLessThan(5 * 300);
  });

  it('offers nothing for a single checkpoint', () => {
    expect(shortcuts([checkpoint(10, 0.5)])).toEqual([]);
  });
});
