import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSweep } from '../../../main/services/sweeps/create.ts';
import { draftSweep } from '../../../main/services/sweeps/draft.ts';
import { parsePlan } from '../../../main/services/sweeps/plan.ts';
import { withAbsolutePaths } from '../../../main/services/training/absolute-paths.ts';
import { plannedLater, plannedStart } from '../../../main/services/training/planned-start.ts';
import { startTraining } from '../../../main/services/training/training.ts';
import { withTotalSteps } from '../../../main/trainer/config/config.ts';
import { errorOf } from '../../store/helpers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

/** A path as it is typed in the folder of this process. */
const typed = (path: string): string => relative(process.cwd(), path);

describe('withAbsolutePaths', () => {
  it('takes each path from the folder of this process', async () => {
    const { store, paths, config, root, model, dataset } = await tinyWorkspace();
    const files = { dataset, model, eval_dataset: join(root, 'held-out.jsonl'), relevance_model: model };
    const folders = { task: join(root, 'mine'), from_checkpoint: model, logging_dir: join(root, 'events') };
    const absolute = config({ ...files, ...folders });
    const given = Object.fromEntries(
      Object.entries({ ...files, ...folders }).map(([field, path]) => [field, typed(path)]),
    );
    expect(withAbsolutePaths(store, config(given), paths)).toEqual(absolute);
    expect(withAbsolutePaths(store, absolute, paths)).toEqual(absolute);
  });

  it('keeps names, and takes a model also from the workspace', async () => {
    const { store, paths, config, model } = await tinyWorkspace();
    const names = config({ model: 'tiny', task: 'countdown', from_checkpoint: 'base/seed_1', dataset: resolve('a') });
    expect(withAbsolutePaths(store, names, paths)).toEqual(names);
    expect(withAbsolutePaths(store, { ...names, model: 'models/tiny-test' }, paths).model).toBe(model);
    expect(withAbsolutePaths(store, { ...names, model: 'models/later' }, paths).model).toBe('models/later');
    const start = (from_checkpoint: string) => withAbsolutePaths(store, { ...names, from_checkpoint }, paths);
    expect(start('./base/seed_1').from_checkpoint).toBe(resolve('base/seed_1'));
  });
});

describe('plannedStart', () => {
  it('computes the steps of a run from its epochs, which a resume with other steps leaves behind', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const asked = config({ method: 'sft', num_train_epochs: 3, per_device_train_batch_size: 2, max_steps: 1 });
    const { config: planned, records } = plannedStart(store, asked, paths);
    expect(planned).toMatchObject({ num_train_epochs: 3, max_steps: Math.ceil((3 * records.length) / 2) });
    expect(withTotalSteps(planned, 50)).toMatchObject({ num_train_epochs: null, max_steps: 50 });
  });
});

describe('a run that starts later', () => {
  it('is checked, and stored with absolute paths and the name of the run that it starts from', async () => {
    const { store, paths, config, model, dataset } = await tinyWorkspace();
    const short = { method: 'sft', max_steps: 1, eval_records: 2 } as const;
    await startTraining(store, config(short), { paths, name: 'base/seed_1' }).outcome;
    const relativePaths = config({ ...short, dataset: typed(dataset), model: typed(model) });
    const chained = { ...relativePaths, from_checkpoint: 'base/seed_1' };
    const kept = plannedLater(store, chained, paths);
    expect(kept).toEqual({ ...chained, dataset, model });
    // Started from it, the run is what it would have been at once.
    expect(plannedStart(store, kept, paths).config).toEqual(plannedStart(store, chained, paths).config);
    const gone = { ...chained, dataset: `${typed(dataset)}.gone` };
    expect(errorOf(() => plannedLater(store, gone, paths))).toMatchObject({
      message: expect.stringContaining('.gone'),
    });
    const plan = parsePlan({ name: 'lr', fields: { learning_rate: [1e-5, 1e-4] } }, 'plan');
    const sweepId = createSweep(store, draftSweep(plan, relativePaths), paths);
    const trials = store.sweeps.trials(sweepId).map(({ config: stored }) => [stored.dataset, stored.model]);
    expect(trials).toEqual([
      [dataset, model],
      [dataset, model],
    ]);
  });
});
