import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { stageDefaults } from '../../../main/services/curriculum/stage-config.ts';
import { scaledPace, stageTimes } from '../../../main/services/curriculum/time-left.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const paths = checkoutPaths(resolve(import.meta.dirname, '../../..'));

describe('scaledPace', () => {
  const [ten, fifty] = [
    { words: 10, seconds: 2 },
    { words: 50, seconds: 4 },
  ];

  it.each([
    [[], 10, null],
    [[ten], 10, { low: 2, high: 2 }],
    [[ten, fifty], 30, { low: 3, high: 3 }],
    // One length: between no growth and growth in proportion.
    [[ten], 100, { low: 2, high: 20 }],
    // Two: at least along their line, at most in proportion to the longer one.
    [[fifty, ten], 100, { low: 6.5, high: 8 }],
    [[fifty], 10, { low: 0.8, high: 4 }],
    // A noisy longer stage that was faster doesn't make an even longer one faster still.
    [[{ words: 10, seconds: 5 }, fifty], 100, { low: 4, high: 8 }],
  ])('%#', (measured, words, expected) => {
    expect(scaledPace(measured, words)).toEqual(expected);
  });
});

describe('stageTimes', () => {
  function ladder(words: readonly number[]) {
    const root = temporaryFolder();
    openWorkspace({ workspace: root });
    const store = temporaryStore(root);
    const ids = words.map((count, position) =>
      store.stages.add({
        ...{ name: `${count} words`, words: count, position, steps: 100 },
        datasetId: null,
        promotion: null,
        config: {},
      }),
    );
    return { store, ids };
  }

  function run(
    store: ReturnType<typeof ladder>['store'],
    stageId: number,
    seconds: number,
    config: Partial<TrainConfig> = {},
  ) {
    const { runId } = createRun(store, parseConfig({ dataset: 'd.jsonl', ...config, max_steps: 100 }), { stageId });
    for (let step = 1; step <= 40; step++) store.metrics.record(runId, step, { step_time: seconds });
    store.runs.advance(runId, 40);
    return runId;
  }

  it('is measured for what ran, a range for longer texts, and unknown for other settings', () => {
    const { store, ids } = ladder([10, 25, 50]);
    const [first = 0, second = 0, third = 0] = ids;
    expect(stageTimes(store, paths).size).toBe(0);
    run(store, first, 2, stageDefaults(store, { position: 0, steps: 100 }, paths));
    const other = store.stages.get(third);
    if (other !== undefined) store.stages.change(third, { ...other, config: { num_generations: 4 } });
    expect([...stageTimes(store, paths)]).toEqual([
      [first, { low: 120, high: 120, basis: 'measured' }],
      [second, { low: 200, high: 500, basis: 'scaled' }],
    ]);
    // Seven evaluations each, of which four are left.
    const { id } = store.runs.list({ stageId: first, limit: 1 })[0] ?? { id: 0 };
    store.metrics.record(id, 1, { 'time/evaluation': 10 });
    expect([...stageTimes(store, paths)]).toEqual([
      [first, { low: 160, high: 160, basis: 'measured' }],
      [second, { low: 270, high: 675, basis: 'scaled' }],
    ]);
    store.stages.setState(first, 'done');
    expect(stageTimes(store, paths).has(first)).toBe(false);
  });

  it('counts stages of one model as alike, whose runs name the checkpoint that each started from', () => {
    const { store, ids } = ladder([10, 50, 100]);
    const [first = 0, second = 0, third = 0] = ids;
    const defaults = stageDefaults(store, { position: 0, steps: 100 }, paths);
    store.checkpoints.record(run(store, first, 2, defaults), 40, 'outputs/one/checkpoint-40', 'final');
    const from_checkpoint = join(store.folder, 'outputs/one/checkpoint-40');
    mkdirSync(from_checkpoint, { recursive: true });
    run(store, second, 4, { ...defaults, model: from_checkpoint, from_checkpoint });
    expect(stageTimes(store, paths).get(third)).toEqual({ low: 650, high: 800, basis: 'scaled' });
  });
});
