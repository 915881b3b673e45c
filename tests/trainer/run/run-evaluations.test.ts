import { describe, expect, it } from 'vitest';
import { tinyDataset } from '../../tiny-dataset.ts';
import { checkpointDigests, openTiny, type TinyRun, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();

const evalRecords = tinyDataset().test;
const evaluations = ({ events }: TinyRun) => events.filter((event) => event.kind === 'evaluation');

describe.each(['grpo', 'sft'] as const)('evaluations in the middle of a run: %s', (method) => {
  it('come before the first step, every eval_steps and at the end, and change no number of the training', async () => {
    const without = await tinyRun({ model, config: { method }, evalRecords });
    expect(evaluations(without)).toEqual([]);
    const run = await tinyRun({ model, config: { method, eval_steps: 4 }, evalRecords });
    expect(evaluations(run).map(({ step, items }) => [step, items.length])).toEqual([
      [0, 4],
      [4, 4],
      [6, 4],
    ]);
    expect(run.events.at(-1)).toMatchObject({ kind: 'done', metrics: { 'time/evaluation': expect.any(Number) } });
    expect(run.events.findIndex(({ kind }) => kind === 'evaluation')).toBeLessThan(
      run.events.findIndex(({ kind }) => kind === 'step'),
    );
    expect(run.steps).toEqual(without.steps);
    expect(checkpointDigests(run.checkpoint, true)).toEqual(checkpointDigests(without.checkpoint, true));
  });

  it('are the same when the run is resumed, the baseline only once', async () => {
    const config = { method, eval_steps: 2, eval_records: 3 };
    const whole = await tinyRun({ model, config, evalRecords });
    const stopped = await tinyRun({ model, config, evalRecords, stopAfter: 3 });
    const resumed = await tinyRun({ model, config, evalRecords, resumeFrom: stopped.checkpoint });
    expect(evaluations(resumed).map(({ step }) => step)).toEqual([4, 6]);
    expect([...evaluations(stopped), ...evaluations(resumed)]).toEqual(evaluations(whole));
    expect(resumed.steps).toEqual(whole.steps.slice(3));
  });
});
