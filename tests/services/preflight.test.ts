import { describe, expect, it } from 'vitest';
import { openChanges } from '../../main/services/changes.ts';
import type { JobContext } from '../../main/services/jobs.ts';
import { openLiveRuns } from '../../main/services/live-runs.ts';
import { preflight } from '../../main/services/preflight.ts';
import { readSettings } from '../../main/services/settings.ts';
import { startTraining } from '../../main/services/training.ts';
import { openWorkspace } from '../../main/services/workspace.ts';
import { tinyWorkspace } from './tiny-workspace.ts';

async function bench() {
  const world = await tinyWorkspace();
  const { store, paths, root } = world;
  const live = openLiveRuns(store, { paths, changes: openChanges(), settings: () => readSettings(store) });
  const app = { store, paths, live, workspace: openWorkspace({ workspace: root }) };
  const context: JobContext = { signal: new AbortController().signal, progress: () => undefined };
  return { ...world, look: (changes: object, given = context) => preflight(app, world.config(changes), null, given) };
}

describe('preflight', () => {
  it('samples the first groups with the settings of the run, and leaves nothing behind', async () => {
    const { store, look } = await bench();
    const progress: number[] = [];
    const signal = new AbortController().signal;
    const report = await look({}, { signal, progress: ({ done }) => void progress.push(done) });
    expect(report.sampled?.groups.map((group) => group.length)).toEqual([4, 4]);
    const { best, worst } = report.sampled ?? {};
    expect(best?.reward).toBeGreaterThanOrEqual(worst?.reward ?? 2);
    expect(report.secondsPerStep).toBeGreaterThan(0);
    expect(report.checks.map(({ name }) => name)).toContain('Memory');
    expect(progress.at(-1)).toBe(4);
    expect(store.runs.list()).toEqual([]);
  });

  it('looks at a supervised run too, which samples nothing', async () => {
    const { look } = await bench();
    const report = await look({ method: 'sft' });
    expect(report.sampled).toBeNull();
    expect(report.checks.map(({ name }) => name)).not.toContain('Rewards differ');
  });

  it('says what a start would be refused for, and throws only when it is ended', async () => {
    const { look } = await bench();
    const report = await look({ max_completion_length: 1 });
    expect(report).toMatchObject({
      checks: [{ name: 'Start', status: 'FAIL', detail: expect.stringContaining('max_completion_length') }],
      sampled: null,
    });
    const missing = await look({ dataset: '/no/such.jsonl' });
    expect(missing.checks).toMatchObject([{ status: 'FAIL', detail: expect.stringContaining('/no/such.jsonl') }]);
    const ended = { signal: AbortSignal.abort(), progress: () => undefined };
    await expect(look({}, ended)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('takes the name of a run for its newest checkpoint', async () => {
    const { store, paths, look, config } = await bench();
    const first = startTraining(store, config({ method: 'sft', max_steps: 1 }), { paths, name: 'baseline/seed_1' });
    expect((await first.outcome).state).toBe('done');
    const report = await look({ from_checkpoint: 'baseline/seed_1' });
    expect(report.checks.map(({ name }) => name)).toContain('Memory');
    const unknown = await look({ from_checkpoint: 'baseline/seed_2' });
    expect(unknown.checks).toMatchObject([
      { status: 'FAIL', detail: expect.stringContaining('no run named "baseline/seed_2"') },
    ]);
  });
});
