import { describe, expect, it } from 'vitest';
import { comparisonOf } from '../../../renderer/run/comparison.ts';

const entry = (ref: string, model: string, checkpointId: number | null) => ({
  ref,
  model,
  checkpointId,
  problem: null,
});
const models = [
  entry('checkpoint:7', '/w/outputs/a/checkpoint-20', 7),
  entry('checkpoint:5', '/w/outputs/a/checkpoint-10', 5),
  entry('bundled:tiny', 'tiny', null),
];
const datasets = [{ id: 3, file: '/w/datasets/10words.jsonl' }];
const checkpoints = [
  { id: 5, deletedAt: null },
  { id: 7, deletedAt: null },
] as never;
const run = { checkpoints, model: 'tiny', dataset: '/w/datasets/10words.jsonl', parentCheckpointId: null };

describe('comparisonOf', () => {
  it('compares the newest checkpoint with the model that the run started from, on its dataset', () => {
    expect(comparisonOf(run, models, datasets)).toBe('/compare?baseline=bundled%3Atiny&model=checkpoint%3A7&dataset=3');
  });

  it('compares a later stage with the checkpoint that it started from', () => {
    const stage = { ...run, parentCheckpointId: 5, dataset: '/elsewhere.jsonl' };
    expect(comparisonOf(stage, models, datasets)).toBe('/compare?baseline=checkpoint%3A5&model=checkpoint%3A7');
  });

  it('has no link without a checkpoint, or where the starting model is gone', () => {
    expect(comparisonOf({ ...run, checkpoints: [] }, models, datasets)).toBeNull();
    expect(comparisonOf({ ...run, model: 'gone' }, models, datasets)).toBeNull();
  });
});
