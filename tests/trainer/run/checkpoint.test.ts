import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { openTiny, tinyRun } from './tiny-run.ts';

/** Models that come in the place of the first: other weights, and one more layer. */
const otherWeights = temporaryFolderOfFile();
const otherLayers = temporaryFolderOfFile();
await writeTinyModel(otherWeights, {}, () => 0.05);
await writeTinyModel(otherLayers, { numLayers: 2 });
const { model } = await openTiny();

/** The fields of transformers' TrainerState, as its `save_to_json` writes them (5.17). */
const TRAINER_STATE = [
  'best_global_step',
  'best_metric',
  'best_model_checkpoint',
  'epoch',
  'eval_steps',
  'global_step',
  'is_hyper_param_search',
  'is_local_process_zero',
  'is_world_process_zero',
  'log_history',
  'logging_steps',
  'max_steps',
  'num_input_tokens_seen',
  'num_train_epochs',
  'save_steps',
  'stateful_callbacks',
  'total_flos',
  'train_batch_size',
  'trial_name',
  'trial_params',
];

describe('saveCheckpoint', () => {
  it('writes trainer_state.json with the keys of transformers, in its order', async () => {
    const run = await tinyRun({ model, config: { max_steps: 3 } });
    const state = JSON.parse(readFileSync(join(run.checkpoint, 'trainer_state.json'), 'utf8'));
    expect(Object.keys(state)).toEqual(TRAINER_STATE);
    expect(state).toMatchObject({ global_step: 3, max_steps: 3, logging_steps: 1, train_batch_size: 8 });
    expect(state.log_history.map(({ step }: { readonly step: number }) => step)).toEqual([1, 2, 3]);
    expect(state.num_input_tokens_seen).toBe(state.log_history[2].num_tokens);
  });

  it('is resumed with the held-out records of its scores alone', async () => {
    const { test } = tinyDataset();
    const options = { model, config: { max_steps: 1, eval_steps: 1 } };
    const { checkpoint } = await tinyRun({ ...options, evalRecords: test });
    const resumed = { ...options, config: { max_steps: 2, eval_steps: 1 }, resumeFrom: checkpoint };
    await expect(tinyRun({ ...resumed, evalRecords: test.slice(1) })).rejects.toMatchObject({
      code: 'OTHER_DATASET',
      message: expect.stringContaining("the run's original held-out records"),
    });
    expect((await tinyRun({ ...resumed, evalRecords: test })).steps).toHaveLength(1);
  });

  it.each([
    ['an adapter', { use_peft: true, beta: 0 }],
    ['a KL reference', { use_peft: false, beta: 0.1 }],
  ])('is not resumed on other weights under %s than it started from', async (_, own) => {
    const folder = temporaryFolder();
    const put = (from: string): void => cpSync(from, folder, { recursive: true });
    put(model);
    const { checkpoint } = await tinyRun({ model: folder, config: { ...own, max_steps: 1 } });
    const resumed = { model: folder, config: { ...own, max_steps: 2 }, resumeFrom: checkpoint };
    put(otherWeights);
    await expect(tinyRun(resumed)).rejects.toMatchObject({
      code: 'OTHER_MODEL',
      remedy: expect.stringMatching(/new run/),
    });
    put(model);
    expect((await tinyRun(resumed)).steps).toHaveLength(1);
  });

  it.each([
    ['all weights', false],
    ['an adapter', true],
  ])('is resumed where the checkpoint that a stage of %s started from is gone', async (_, use_peft) => {
    const own = { use_peft, beta: 0 };
    const first = await tinyRun({ model, config: { ...own, max_steps: 1 } });
    const next = { ...own, from_checkpoint: first.checkpoint };
    const modelFolder = use_peft ? model : first.checkpoint;
    const { checkpoint } = await tinyRun({ model: modelFolder, config: { ...next, max_steps: 1 } });
    rmSync(first.checkpoint, { recursive: true });
    const resumed = await tinyRun({ model, config: { ...next, max_steps: 2 }, resumeFrom: checkpoint });
    expect(resumed.steps).toHaveLength(1);
  });

  it('is not resumed from an older version whose model had other layers, where they are the KL reference', async () => {
    const own = { use_peft: false, beta: 0.1 };
    const { checkpoint } = await tinyRun({ model, config: { ...own, max_steps: 1 } });
    for (const file of ['starting_model.json', 'checksums.sha256']) rmSync(join(checkpoint, file));
    const resumed = { config: { ...own, max_steps: 2 }, resumeFrom: checkpoint };
    await expect(tinyRun({ ...resumed, model: otherLayers })).rejects.toMatchObject({ code: 'OTHER_MODEL' });
    expect((await tinyRun({ ...resumed, model })).steps).toHaveLength(1);
  });

  it("keeps what Braid doesn't use of the base model's config.json, and the tokenizer's files", async () => {
    const run = await tinyRun({ model, config: { max_steps: 1, use_peft: false } });
    const config = (at: string) => JSON.parse(readFileSync(join(at, 'config.json'), 'utf8'));
    expect(config(run.checkpoint)).toEqual(config(model));
    expect(existsSync(join(run.checkpoint, 'tokenizer.json'))).toBe(true);
  });
});
