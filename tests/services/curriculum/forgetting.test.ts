import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { checkForgetting, forgetting } from '../../../main/services/curriculum/forgetting.ts';
import { forgettingAfterStage } from '../../../main/services/curriculum/forgetting-job.ts';
import { startTraining } from '../../../main/services/training/training.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openNotices } from '../../../main/services/workspace/notices.ts';
import { changeSettings, readSettings } from '../../../main/services/workspace/settings.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';
import { tinyConfig } from '../../trainer/run/tiny-run.ts';
import { type TinyWorkspace, tinyWorkspace } from '../tiny-workspace.ts';

const context = { signal: new AbortController().signal, progress: () => undefined };

/** Two stages of two and three words; the first was trained, with a baseline. */
async function curriculum() {
  const world = await tinyWorkspace();
  const { store, root, paths } = world;
  const second = writeTinyDataset(`${root}/datasets/3words.jsonl`, { words: 3, test: 3 });
  const files = [world.dataset, second];
  const stages = files.map((file, i) => {
    const row = { name: `d${i}`, file, task: 'interleave', words: i + 2, trainN: 12, testN: 4, seed: 3 };
    const datasetId = store.datasets.record({ ...row, template: null, textHash: null });
    return addStage(store, { datasetId, config: { model: world.model } });
  });
  const train = async (place: number, changes = {}) => {
    const config = world.config({ ...tinyConfig, max_steps: 2, dataset: files[place] ?? '', ...changes });
    const { outcome } = startTraining(store, config, { paths, stageId: stages[place] ?? null });
    expect(await outcome).toMatchObject({ state: 'done' });
    store.stages.setState(stages[place] ?? 0, 'done');
    return (await outcome).checkpoint;
  };
  return { ...world, stages, train };
}

/** Whether each cell is known, row by row. */
const known = ({ store, paths }: TinyWorkspace) =>
  forgetting(store, paths).rows.map(({ name, cells }) => [name, ...cells.map((cell) => cell !== null)]);

describe('the forgetting check', () => {
  it("uses the runs' own evaluations, and measures the rest once", async () => {
    const world = await curriculum();
    const { store, paths, model, train } = world;
    expect(forgetting(store, paths)).toEqual({ columns: [], rows: [], missing: 0 });
    const first = await train(0, { eval_steps: 2 });
    expect(known(world)).toEqual([
      [model, true],
      ['2 words', true],
    ]);
    await train(1, { from_checkpoint: first });
    expect(known(world)).toEqual([
      [model, true, false],
      ['2 words', true, false],
      ['3 words', false, false],
    ]);
    await checkForgetting(store, paths, context);
    const { rows, missing, columns } = forgetting(store, paths);
    expect(missing).toBe(0);
    expect(columns.map(({ words }) => words)).toEqual([2, 3]);
    expect(rows.map(({ cells }) => cells.map((cell) => cell?.n))).toEqual([
      [4, 3],
      [4, 3],
      [4, 3],
    ]);
    // What the check measured is not taken for the run's own score.
    const evaluations = store.evaluations.list().length;
    await checkForgetting(store, paths, context);
    expect(store.evaluations.list()).toHaveLength(evaluations);
    // Four trainer processes, one after the other.
  }, 180_000);

  it('asks the base as the stages were asked', async () => {
    const world = await curriculum();
    const refuses = "{{ raise_exception('asked without the system prompt') }}";
    const template = `{% if messages[0].role != 'system' %}${refuses}{% endif %}{{ messages[-1].content }}`;
    writeFileSync(join(world.model, 'chat_template.jinja'), template);
    await world.train(0, { system_prompt: 'wa wb' });
    expect(known(world)).toContainEqual([world.model, false]);
    await checkForgetting(world.store, world.paths, context);
    expect(forgetting(world.store, world.paths).missing).toBe(0);
  });

  it('runs after a stage if enabled, and reports its failure without blocking anything', async () => {
    const { store, paths, stages, train } = await curriculum();
    await train(0);
    const changes = openChanges();
    const app = { store, paths, changes, jobs: openJobs(changes), notices: openNotices(changes) };
    const broken = { ...app, paths: { ...paths, kernels: '/no/kernels.wasm' } };
    const stage = store.stages.get(stages[0] ?? 0);
    if (stage === undefined) throw new Error('Expected a stage');
    const endOf = (part: typeof app) => forgettingAfterStage({ ...part, settings: () => readSettings(store) })(stage);
    changeSettings(store, { forgetting_check: false });
    await endOf(app);
    expect(app.jobs.list()).toEqual([]);
    changeSettings(store, { forgetting_check: true });
    await endOf(broken);
    expect(app.notices.list()[0]?.message).toMatch(/^The forgetting check after "2 words" failed: /);
    // Before there is a job, too: what is missing can't even be counted.
    const unreadable = {
      ...app,
      store: {
        ...store,
        stages: {
          ...store.stages,
          list: () => {
            throw new Error('disk I/O error');
          },
        },
      },
    };
    await endOf(unreadable);
    expect(app.notices.list()[0]?.message).toMatch(/failed: disk I\/O error$/);
    await endOf(app);
    expect(app.jobs.list().map(({ state }) => state)).toEqual(['done', 'failed']);
    expect(forgetting(store, paths).missing).toBe(0);
  });
});
