import { describe, expect, it } from 'vitest';
import { readFilter } from '../../../renderer/runs/remembered-filter.ts';
import type { RunRowView } from '../../../renderer/runs/run-rows.ts';
import { runsCsv } from '../../../renderer/runs/runs-csv.ts';

const row: RunRowView = {
  ...{ id: 7, name: 'run-0007', state: 'done', reason: null, dataset: '10words', model: 'tiny', method: 'grpo' },
  ...{ step: 40, maxSteps: 60, reward: 0.9, heldOut: 0.75, baseline: 0.5, gain: 0.25, secondsLeft: null },
  ...{ parentRunId: null, createdAt: Date.UTC(2026, 10, 22) },
};

describe('runsCsv', () => {
  it('has a line for each run, with an empty cell where there is no value', () => {
    const [head, first, second] = runsCsv([row, { ...row, heldOut: null, gain: null, reward: Number.NaN }]).split(
      '\r\n',
    );
    expect(head).toBe('id,name,state,method,model,dataset,step,max_steps,reward,held_out,baseline,gain,created_at');
    expect(first).toBe('7,run-0007,done,grpo,tiny,10words,40,60,0.9,0.75,0.5,0.25,2026-11-22T00:00:00.000Z');
    expect(second).toBe('7,run-0007,done,grpo,tiny,10words,40,60,,,0.5,,2026-11-22T00:00:00.000Z');
  });

  it('quotes what needs it, and keeps a spreadsheet from taking a name for a formula', () => {
    expect(runsCsv([{ ...row, name: 'a "b", c' }])).toContain(',"a ""b"", c",');
    expect(runsCsv([{ ...row, name: '=1+1' }])).toContain(",'=1+1,");
  });
});

describe('readFilter', () => {
  it('reads what was stored, and nothing from anything else', () => {
    expect(readFilter('{"words":"tiny","state":"done"}')).toEqual({ words: 'tiny', state: 'done' });
    for (const stored of [null, 'no json', '{"words":1,"state":"gone"}', '[]'])
      expect(readFilter(stored)).toEqual({ words: '', state: 'all' });
  });
});
