import { describe, expect, it } from 'vitest';
import {
  blockedBy,
  continuesInCurriculum,
  newestDataset,
  runFrom,
} from '../../../renderer/components/config-form/free-run.ts';

describe('newestDataset', () => {
  const row = { id: 1, name: 'x', words: 10, trainN: 1, testN: 1, seed: 1, template: null, textHash: null };
  const dataset = (file: string, madeAt: number, task = 'interleave', bytes: number | null = 9) => ({
    ...row,
    stages: 0,
    runs: 0,
    leakage: null,
    file,
    madeAt,
    task,
    bytes,
  });

  it("is the newest of the task whose file exists, so that a new run's form can be started as it opens", () => {
    const day = 86_400_000;
    const all = [
      dataset('a', 1),
      dataset('b', 3 * day),
      dataset('gone', 4 * day, 'interleave', null),
      dataset('r', 5 * day, 'reply'),
    ];
    expect(newestDataset(all, 'interleave')).toBe('b');
    expect(newestDataset(all, 'reply')).toBe('r');
    expect(newestDataset([], 'interleave')).toBeNull();
  });

  it('is the one with the shortest texts of a curriculum that was made at once', () => {
    const made = [25, 10, 500].map((words, i) => ({ ...dataset(String(words), 1e9 + i * 1000), words }));
    expect(newestDataset([dataset('old', 1), ...made], 'interleave')).toBe('10');
  });
});

describe('blockedBy', () => {
  it('says what keeps a run from starting', () => {
    expect(blockedBy({ dataset: 'a.jsonl' }, [])).toBeNull();
    expect(blockedBy({ dataset: '' }, [])).toBe('To start, choose a dataset.');
    const fault = { field: 'beta', message: 'no', remedy: null };
    expect(blockedBy({ dataset: 'a' }, [fault, fault, { ...fault, field: 'seed' }])).toBe('To start, fix beta, seed.');
  });
});

describe('continuesInCurriculum', () => {
  it('is so only for the task of its stages', () => {
    expect([{ task: 'interleave' }, {}, { task: 'reply' }, { task: 'my-task' }].map(continuesInCurriculum)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('runFrom', () => {
  it("keeps the task and the settings of the checkpoint's run, and starts from the checkpoint instead", () => {
    const config = { task: 'reply', dataset: 'r.jsonl', from_checkpoint: '/runs/1/checkpoint-5' };
    const { base, change, ...rest } = runFrom(7, config, '/runs/7/checkpoint-20');
    expect({ ...base, ...change }).toEqual({ ...config, from_checkpoint: '/runs/7/checkpoint-20' });
    expect(rest).toEqual({ runId: 7, name: '' });
  });
});
