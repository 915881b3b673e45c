import { describe, expect, it } from 'vitest';
import { readFilter } from '../../../renderer/runs/remembered-filter.ts';
import { columns } from '../../../renderer/runs/run-columns.ts';
import type { RunRowView } from '../../../renderer/runs/run-rows.ts';
import { runsCsv } from '../../../renderer/runs/runs-csv.ts';

const row: RunRowView = {
  id: 7,
  name: 'run-0007',
  state: 'done',
  reason: null,
  dataset: '10words',
  model: 'tiny',
  method: 'grpo',
  step: 40,
  maxSteps: 60,
  reward: 0.9,
  heldOut: 0.75,
  below: 'no',
  baseline: 0.5,
  gain: 0.25,
  secondsLeft: null,
  role: 'run-0007',
  stage: null,
  tags: ['keep', 'paper'],
  seconds: 61,
  cost: null,
  parentRunId: null,
  createdAt: Date.UTC(2026, 10, 22),
};

describe('runsCsv', () => {
  it('has the columns shown, the id and the tags, and an empty cell where there is no value', () => {
    const rows = [row, { ...row, heldOut: null, gain: null, reward: Number.NaN }];
    const [head, first, second] = runsCsv(rows, ['name', 'step', 'shape', 'reward', 'gain']).split('\r\n');
    expect(head).toBe('id,name,step,max_steps,reward,baseline,gain,stage,tags');
    expect(first).toBe('7,run-0007,40,60,0.9,0.5,0.25,,keep paper');
    expect(second).toBe('7,run-0007,40,60,,0.5,,,keep paper');
  });

  it('can have every column of the list', () => {
    const [head, first] = runsCsv(
      [row],
      columns.map(({ id }) => id),
    ).split('\r\n');
    expect(head).toBe(
      'id,name,state,step,max_steps,reward,held_out,baseline,gain,dataset,model,method,seconds,cost,created_at,stage,tags',
    );
    expect(first).toBe(
      '7,run-0007,done,40,60,0.9,0.75,0.5,0.25,10words,tiny,grpo,61,,2026-11-22T00:00:00.000Z,,keep paper',
    );
  });
});

describe('readFilter', () => {
  it('reads what was stored, and nothing from anything else', () => {
    expect(readFilter('{"words":"tiny","state":"done"}')).toEqual({ words: 'tiny', state: 'done' });
    for (const stored of [null, 'no json', '{"words":1,"state":"gone"}', '[]'])
      expect(readFilter(stored)).toEqual({ words: '', state: 'all' });
  });
});
