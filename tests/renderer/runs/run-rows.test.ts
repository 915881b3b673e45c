import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../main/services/runs/history.ts';
import type { LiveStatus } from '../../../main/services/training/live-status.ts';
import { folded as foldedByHost } from '../../../main/text/folded.ts';
import { folded } from '../../../renderer/components/folded.ts';
import { chosenRows, filterRows, toRows } from '../../../renderer/runs/run-rows.ts';
import { settingText } from '../../../renderer/runs/setting-text.ts';

/** Only the fields that a row uses. */
function run(id: number, changes: Partial<RunSummary> = {}): RunSummary {
  return {
    ...{ id, name: `run-${id}`, state: 'done', reason: null, model: 'tiny', method: 'grpo', parentRunId: null },
    dataset: '/w/datasets/10words.jsonl',
    step: 60,
    maxSteps: 60,
    baselineScore: 0.5,
    createdAt: 1,
    ...{ role: `run-${id}`, tags: id === 3 ? ['paper'] : [], stageId: null, startedAt: 1000, endedAt: 50_401_000 },
    // It lay interrupted for the rest of those fourteen hours.
    trainedSeconds: 60,
    latest: { reward: { step: 60, value: 0.9 } },
    evaluation: { mean: 0.8 },
    ...changes,
  } as unknown as RunSummary;
}

const training = { runId: 2, state: 'paused', step: 7, maxSteps: 90, reward: 0.6, secondsLeft: 30 } as LiveStatus;
const rows = toRows(
  [run(2, { state: 'running', step: 5, evaluation: null }), run(1), run(3, { state: 'collapsed' })],
  [training],
);

describe('toRows', () => {
  it('shows the live status of runs in training', () => {
    expect(rows[0]).toMatchObject({ state: 'paused', step: 7, maxSteps: 90, reward: 0.6, secondsLeft: 30, gain: null });
  });

  it('shows the stored status of ended runs, with the gain over the baseline', () => {
    expect(rows[1]).toMatchObject({ state: 'done', reward: 0.9, heldOut: 0.8, gain: expect.closeTo(0.3) });
    expect(rows[1]?.dataset).toBe('10words');
  });
});

describe('toRows with prices and stages', () => {
  it('gives the duration, the cost of it and the name of the stage', () => {
    const around = { stages: [{ id: 4, name: '10 words' }], price: { hourly_price: 6, currency: '€' } };
    expect(toRows([run(1, { stageId: 4 })], [], around)[0]).toMatchObject({
      seconds: 60,
      cost: '€0.10',
      stage: '10 words',
    });
    expect(toRows([run(1, { endedAt: null })], [], around)[0]).toMatchObject({
      seconds: null,
      cost: null,
      stage: null,
    });
  });
});

describe("toRows with an engine's or a judge's own price", () => {
  it("doesn't price its time by this machine's", () => {
    const point = { step: 3, value: 0.02 };
    const around = { stages: [], price: { hourly_price: 6, currency: '€' } };
    expect(toRows([run(1, { latest: { 'engine/cost': point } })], [], around)[0]?.cost).toBeNull();
    expect(toRows([run(1, { latest: { reward_cost: point } })], [], around)[0]?.cost).toBeNull();
  });
});

describe('filterRows', () => {
  const idsOf = (words: string, state: Parameters<typeof filterRows>[2] = 'all') =>
    filterRows(rows, words, state).map(({ id }) => id);

  it('finds rows that have every word', () => {
    expect(idsOf('')).toEqual([2, 1, 3]);
    expect(idsOf('10WORDS run-3')).toEqual([3]);
    expect(idsOf('#1')).toEqual([1]);
    expect(idsOf('25words')).toEqual([]);
    expect(idsOf('tag:paper')).toEqual([3]);
  });

  it('finds an accent written either way, as the host does', () => {
    const [cafe] = toRows([run(9, { name: 'Cafe\u0301' })], []);
    expect(cafe && filterRows([cafe], 'CAF\u00c9', 'all')).toHaveLength(1);
    for (const text of ['A\u030a', '\u00c5', '\u212b', '\u0130']) expect(folded(text)).toBe(foldedByHost(text));
  });

  it('counts every state of a trainer as live, and a collapse as a failure', () => {
    expect(idsOf('', 'live')).toEqual([2]);
    expect(idsOf('', 'done')).toEqual([1]);
    expect(idsOf('', 'failed')).toEqual([3]);
  });
});

describe('chosenRows', () => {
  it('keeps the order of the selection, without runs that are gone', () => {
    expect(chosenRows(rows, [3, 9, 2]).map(({ id }) => id)).toEqual([3, 2]);
  });
});

describe('settingText', () => {
  it('writes any value in one line', () => {
    expect([1e-6, null, ['a', 'b'], { a: 1 }, undefined].map(settingText)).toEqual([
      '0.000001',
      'null',
      'a, b',
      '{"a":1}',
      '–',
    ]);
  });
});
