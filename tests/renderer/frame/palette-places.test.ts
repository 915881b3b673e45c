import { describe, expect, it } from 'vitest';
import type { ComparisonSummary, ModelEntry, TaskSummary } from '../../../main/api/contract/index.ts';
import { comparisonPlaces, modelPlaces, taskPlaces } from '../../../renderer/frame/palette-places.ts';
import { visited } from '../../../renderer/frame/recent-places.ts';

const compared = (name: string) => ({ reference: name, name, mean: null, paired: null });
const comparison: ComparisonSummary = {
  id: 3,
  madeAt: 1,
  models: ['tiny', 'sft', 'grpo'].map(compared),
  verdict: null,
  prompts: { id: 1, hash: 'h', datasets: ['10words'], datasetIds: [1], n: 32, seed: 42, leaking: [] },
};
const task: TaskSummary = {
  name: 'rhyme',
  origin: 'workspace',
  title: 'Rhymes',
  rewards: [],
  kinds: {},
  check: null,
  maxTurns: null,
  hasRecords: false,
  problem: null,
};
const model: ModelEntry = {
  ref: 'checkpoint:12',
  kind: 'checkpoint',
  name: 'sft · step 20',
  model: '/c',
  folder: '/c',
  heldOut: 0.5,
  run: { id: 1, name: 'sft' },
  checkpointId: 12,
  step: 20,
  checkpointKind: 'final',
  createdAt: 1,
  architecture: null,
  parameters: null,
  deleted: false,
  abandoned: false,
  problem: null,
};

describe('the places of the palette', () => {
  it('has comparisons by their models, tasks by name and title, and the models that exist', () => {
    expect(comparisonPlaces([comparison])).toMatchObject([
      { path: '/compare/3', label: 'sft, grpo against tiny', description: 'comparison, 32 prompts of 10words' },
    ]);
    expect(taskPlaces([task, { ...task, name: 'sums', origin: 'bundled', title: null }])).toEqual([
      { path: '/tasks/rhyme', label: 'rhyme', description: 'task, Rhymes' },
      { path: '/tasks/sums', label: 'sums', description: 'bundled task' },
    ]);
    expect(modelPlaces([model, { ...model, ref: 'checkpoint:13', deleted: true }])).toEqual([
      { path: '/models?model=checkpoint%3A12', label: 'sft · step 20', description: 'checkpoint, held-out 0.500' },
    ]);
  });

  it('are all remembered as recent ones', () => {
    const places = [...comparisonPlaces([comparison]), ...taskPlaces([task]), ...modelPlaces([model])];
    const recent = places.reduce<readonly string[]>((list, { path }) => visited(list, path), []);
    expect(recent).toEqual(places.map(({ path }) => path).reverse());
  });
});
