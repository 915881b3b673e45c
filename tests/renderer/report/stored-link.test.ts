import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../../main/api/contract/index.ts';
import { readReport } from '../../../renderer/report/read-report.ts';
import { storedLink } from '../../../renderer/report/stored-link.ts';

const bucket = (step: number) => ({ firstStep: step, lastStep: step, min: 0, max: 1, mean: 0.5, count: 1 });
const best = { runId: 7, step: 3, group: 0, index: 1, reward: 1 };

const content = {
  kind: 'run',
  detail: { id: 7 },
  curves: { reward: [bucket(1), bucket(2), bucket(3)] },
  cost: {},
  steps: [{ step: 3, best, worst: null }],
};

const ask = (path: string, input: unknown): Promise<unknown> =>
  storedLink({ content } as unknown as Report).call(path.split('.'), input, { context: {} });

describe('storedLink', () => {
  it('answers charts at every zoom, and the completions of a step', async () => {
    expect(await ask('runs.get', { runId: 7 })).toEqual({ id: 7 });
    const zoomed = { names: ['reward', 'none'], range: { from: 2, to: 3 } };
    expect(await ask('runs.buckets', zoomed)).toEqual({ reward: [bucket(2), bucket(3)], none: [] });
    expect(await ask('samples.ofStep', { step: 3 })).toEqual([best]);
    expect(await ask('samples.get', { step: 3, group: 0, index: 1 })).toEqual(best);
  });

  it('refuses what the report lacks', async () => {
    await expect(ask('samples.ofStep', { step: 4 })).rejects.toThrow("Step 4 isn't in this report");
    await expect(ask('runs.start', {})).rejects.toThrow("This isn't in the report");
  });
});

describe('readReport', () => {
  it('reads numbers that JSON lacks, and takes nothing else for one', async () => {
    const content =
      '"mean": {"#": "NaN"}, "low": {"#": "-Infinity"}, "given": {"#": "5"}, "both": {"#": "NaN", "a": 1}';
    expect(await readReport(gzipSync(`{${content}}`).toString('base64'))).toEqual({
      mean: Number.NaN,
      low: Number.NEGATIVE_INFINITY,
      given: { '#': '5' },
      both: { '#': 'NaN', a: 1 },
    });
  });
});
