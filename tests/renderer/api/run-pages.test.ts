import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../main/api/contract/index.ts';
import { inputOf, joined, olderPages, olderRunsKey, pageOf } from '../../../renderer/api/run-pages.ts';

/** Runs of these ids, newest first. */
const runsOf = (from: number, to: number): RunSummary[] =>
  Array.from({ length: from - to + 1 }, (_, i) => ({ id: from - i }) as RunSummary);
const idsOf = (runs: readonly RunSummary[]): number[] => runs.map(({ id }) => id);

describe('olderPages', () => {
  it('reaches from the page of the oldest run that is known to the first', () => {
    expect(olderPages(runsOf(1700, 1201))).toEqual([2, 1, 0]);
    expect(olderPages(runsOf(1000, 501))).toEqual([1, 0]);
  });

  it('has none where all runs are known', () => {
    expect([olderPages([]), olderPages(runsOf(30, 1))]).toEqual([[], []]);
  });

  it('keeps its pages while new runs start', () => {
    const keysOf = (newest: RunSummary[]) =>
      olderPages(newest).map((page) => [olderRunsKey(inputOf(page).before - 1), inputOf(page)]);
    expect(keysOf(runsOf(1710, 1211))).toEqual(keysOf(runsOf(1700, 1201)));
  });
});

describe('olderRunsKey', () => {
  it('is that of all pages, or begins as it does and names the page of a run', () => {
    expect(olderRunsKey(1201).slice(0, 1)).toEqual(olderRunsKey(null));
    expect([1, 500, 501, 1000, 1001].map((id) => olderRunsKey(id).at(-1))).toEqual([0, 0, 1, 1, 2]);
  });
});

describe('joined', () => {
  it('has every run once, newest first', () => {
    const newest = runsOf(1700, 1201);
    const older = olderPages(newest).flatMap((page) => {
      const { before, limit } = inputOf(page);
      return runsOf(Math.min(before - 1, 1700), Math.max(1, before - limit)).filter(({ id }) => pageOf(id) === page);
    });
    expect(idsOf(joined(newest, older))).toEqual(idsOf(runsOf(1700, 1)));
  });

  it('is the newest ones until the others are there', () => {
    const newest = runsOf(1700, 1201);
    expect([joined(newest, []), joined([], runsOf(3, 1))]).toEqual([newest, []]);
  });
});
