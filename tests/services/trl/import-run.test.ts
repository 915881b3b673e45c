import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { resolveModelParts } from '../../../main/services/models/resolve.ts';
import { runDetail } from '../../../main/services/runs/history.ts';
import { plannedStart } from '../../../main/services/training/planned-start.ts';
import { resumeTraining } from '../../../main/services/training/training.ts';
import { importRun } from '../../../main/services/trl/import-run.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { exportTinyStage, fixtures, paths } from './tiny-export.ts';

/** An exported folder after train.py has run, and a workspace. */
async function trained() {
  const root = temporaryFolder();
  openWorkspace({ workspace: join(root, 'ws') });
  const store = temporaryStore(join(root, 'ws'));
  const { folder } = await exportTinyStage(store, root);
  const output = join(folder, 'output');
  cpSync(fixtures, output, { recursive: true });
  return { store, folder, output, root, outputs: join(root, 'ws', 'outputs') };
}

describe('importRun', () => {
  it('makes an ended run of what TRL has logged', async () => {
    const { store, folder } = await trained();
    const settings = join(folder, 'run.yaml');
    // TRL has no warm-up: none of its steps was one.
    writeFileSync(settings, readFileSync(settings, 'utf8').replace('warm_up_steps: 0', 'warm_up_steps: 2'));
    const made = await importRun(store, folder, { paths, name: 'from TRL' });
    expect(made).toMatchObject({ name: 'from TRL', steps: 3, samples: 24, evaluations: 3, checkpoints: 2 });
    const run = runDetail(store, made.run_id);
    expect(run).toMatchObject({ state: 'done', step: 3, maxSteps: 3, backend: 'TRL', task: 'interleave' });
    expect(run.config).toMatchObject({ num_generations: 4, max_steps: 3, warm_up_steps: 0, lora_r: 2 });
    const state = JSON.parse(readFileSync(join(fixtures, 'trainer_state.json'), 'utf8'));
    const logged = state.log_history.find((one: { step: number; reward?: number }) => one.step === 1 && one.reward);
    expect(store.metrics.series(made.run_id, 'reward')[0]).toEqual({ step: 1, value: logged.reward });
    for (const name of ['rewards/alignment/mean', 'grad_norm', 'entropy', 'completions/mean_length', 'step_time'])
      expect(store.metrics.series(made.run_id, name)).toHaveLength(3);
    expect(run.metricNames.filter((name) => /^eval_|^train_/.test(name))).toEqual([]);
  });

  it('copies read-only checkpoints as files that can be written', async () => {
    const { store, folder, output, outputs } = await trained();
    for (const name of ['adapter_model.safetensors', 'adapter_config.json'])
      chmodSync(join(output, 'checkpoint-3', name), 0o444);
    await importRun(store, folder, { paths });
    const [copy = ''] = readdirSync(outputs, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith(join('checkpoint-3', 'adapter_model.safetensors')),
    );
    expect(statSync(join(outputs, copy)).mode & 0o200).toBe(0o200);
  });

  it('stores completions with their records: the rewards are those that Braid gives them', async () => {
    const { store, folder } = await trained();
    const { run_id: id } = await importRun(store, folder, { paths });
    expect(store.samples.steps(id)).toEqual([1, 2, 3]);
    const samples = store.samples.byStep(id, 1);
    expect(samples.map(({ group, index }) => `${group}.${index}`)).toEqual([
      '0.0',
      '0.1',
      '0.2',
      '0.3',
      '1.0',
      '1.1',
      '1.2',
      '1.3',
    ]);
    const scores = samples.map(({ recordId, prompt, target, completion, length }) => {
      const record = { id: recordId, prompt, target } as never;
      return interleaveTask.score([{ record, completion, tokens: length, finish: 'stop' }])[0]?.components.alignment;
    });
    samples.forEach(({ reward, length, target, advantage }, i) => {
      expect(reward).toBeCloseTo(scores[i] ?? Number.NaN, 6);
      expect(length).toBeGreaterThan(0);
      expect(target.split(' ')).toHaveLength(4);
      expect(advantage).not.toBeNaN();
    });
    expect(new Set(samples.map(({ reward }) => reward)).size).toBeGreaterThan(1);
  });

  it('stores evaluations, the first as the baseline', async () => {
    const { store, folder } = await trained();
    const { run_id: id } = await importRun(store, folder, { paths });
    const evaluations = store.evaluations.ofRun(id);
    expect(evaluations.map(({ step, n }) => [step, n])).toEqual([
      [0, 4],
      [2, 4],
      [3, 4],
    ]);
    expect(evaluations[0]?.metrics.eval_alignment).toBe(evaluations[0]?.mean);
    expect(store.runs.get(id)?.baselineScore).toBe(evaluations[0]?.mean);
  });

  it('copies checkpoints without the state of the optimiser, over the model that is here', async () => {
    const { store, folder, output, root } = await trained();
    writeFileSync(join(output, 'checkpoint-2', 'optimizer.pt'), 'large');
    const made = await importRun(store, folder, { paths });
    const [first, last] = runDetail(store, made.run_id).checkpoints;
    expect([first?.kind, last?.kind, last?.path]).toEqual(['periodic', 'final', join(made.folder, 'checkpoint-3')]);
    expect(existsSync(join(made.folder, 'checkpoint-2', 'optimizer.pt'))).toBe(false);
    expect(resolveModelParts(last?.path ?? '', paths).base).toBe(join(root, 'model'));
    expect(made.bytes).toBeGreaterThan(7000);
    expect(existsSync(join(made.folder, 'run.yaml'))).toBe(true);
    expect(readFileSync(join(made.folder, 'metrics.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  });

  it('makes a run that cannot be resumed, only trained further', async () => {
    const { store, folder } = await trained();
    const made = await importRun(store, folder, { paths });
    expect(() => resumeTraining(store, made.run_id, { paths, maxSteps: 9 })).toThrow(
      expect.objectContaining({ code: 'RUN_IMPORTED', kind: 'input' }),
    );
    const config = parseConfig({ ...runDetail(store, made.run_id).config, from_checkpoint: made.name });
    const planned = plannedStart(store, config, paths);
    expect(planned.config.from_checkpoint).toBe(join(made.folder, 'checkpoint-3'));
  });

  it("takes the output folder alone too, and a checkpoint's state where it has none", async () => {
    const { store, output } = await trained();
    rmSync(join(output, 'trainer_state.json'));
    expect(await importRun(store, output, { paths })).toMatchObject({ steps: 3, samples: 24 });
  });

  it('imports a run that was not exported with the configuration that it is given', async () => {
    const { store, output, root } = await trained();
    const elsewhere = join(root, 'elsewhere');
    cpSync(output, elsewhere, { recursive: true });
    rmSync(join(elsewhere, 'completions'), { recursive: true });
    await expect(importRun(store, elsewhere, { paths })).rejects.toMatchObject({ code: 'NO_TRL_CONFIG' });
    const config = parseConfig({ model: join(root, 'gone'), num_generations: 4 });
    const made = await importRun(store, elsewhere, { paths, config });
    expect(made).toMatchObject({ steps: 3, samples: 0, checkpoints: 2 });
    expect(made.notes.join('\n')).toMatch(/No completions were logged.*\n.*isn't here/s);
  });

  it("finds the records of TRL's own completions by their prompts, and says which rewards they lack", async () => {
    const { store, output, root } = await trained();
    const elsewhere = join(root, 'elsewhere');
    cpSync(output, elsewhere, { recursive: true });
    const dataset = join(root, '2words.jsonl');
    const { id, prompt, target } = JSON.parse(readFileSync(dataset, 'utf8').split('\n')[0] ?? '');
    const column = (name: string, data: unknown[], type: 'STRING' | 'DOUBLE') => ({ name, data, type });
    const columnData = [
      column('prompt', [prompt, 'Another'], 'STRING'),
      column('completion', ['x', 'y'], 'STRING'),
      column('my_reward', [1, 0], 'DOUBLE'),
      column('advantage', [1, -1], 'DOUBLE'),
    ];
    const file = join(elsewhere, 'completions', 'completions_00001.parquet');
    writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData })));
    for (const step of [2, 3]) rmSync(join(elsewhere, 'completions', `completions_0000${step}.parquet`));
    const made = await importRun(store, elsewhere, { paths, config: parseConfig({ dataset, num_generations: 2 }) });
    const [first, second] = store.samples.byStep(made.run_id, 1);
    expect(first).toMatchObject({ recordId: id, prompt, target });
    expect(second).toMatchObject({ recordId: expect.stringMatching(/^prompt-/), prompt: 'Another' });
    expect(made.notes).toContain(
      "The completions have no rewards called alignment: give the task's components the names of TRL's reward functions.",
    );
  });

  it('reads the NaN that Python writes, and leaves out checkpoints without safetensors', async () => {
    const { store, folder, output } = await trained();
    const file = join(output, 'trainer_state.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"grad_norm": [^,]+/, '"grad_norm": NaN'));
    mkdirSync(join(output, 'checkpoint-1'));
    writeFileSync(join(output, 'checkpoint-1', 'pytorch_model.bin'), '');
    const made = await importRun(store, folder, { paths });
    expect(store.metrics.series(made.run_id, 'grad_norm').map(({ step }) => step)).toEqual([2, 3]);
    expect(made.notes[0]).toContain('step 1');
  });

  it.each([
    ['BAD_TRAINER_STATE', (output: string) => writeFileSync(join(output, 'trainer_state.json'), '{"global')],
    ['BAD_TRAINER_STATE', (output: string) => writeFileSync(join(output, 'trainer_state.json'), '{"global_step":3}')],
    [
      'BAD_TRAINER_STATE',
      (output: string) => writeFileSync(join(output, 'trainer_state.json'), '{"global_step":3,"log_history":[]}'),
    ],
    [
      'BAD_COMPLETIONS_FILE',
      (output: string) => writeFileSync(join(output, 'completions', 'completions_00003.parquet'), 'PAR'),
    ],
    ['BAD_JSON', (output: string) => writeFileSync(join(output, 'checkpoint-3', 'adapter_config.json'), '{')],
    [
      'FILE_TRUNCATED',
      (output: string) => writeFileSync(join(output, 'checkpoint-3', 'adapter_model.safetensors'), 'short'),
    ],
    ['NO_TRAINER_STATE', (output: string) => rmSync(output, { recursive: true })],
    ['BAD_TRL_FOLDER', (output: string) => writeFileSync(join(output, '..', 'train.jsonl'), '{}\n')],
    ['NO_TRL_FOLDER', (output: string) => rmSync(join(output, '..'), { recursive: true })],
  ] as const)('imports nothing where a file is missing or damaged: %s', async (code, damage) => {
    const { store, folder, output, outputs } = await trained();
    damage(output);
    await expect(importRun(store, folder, { paths })).rejects.toMatchObject({ code, kind: 'input' });
    expect(store.runs.list()).toEqual([]);
    expect(readdirSync(outputs)).toEqual([]);
  });

  it('leaves nothing behind where the history cannot be written', async () => {
    const { store, folder, outputs } = await trained();
    const failing = {
      ...store,
      evaluations: {
        ...store.evaluations,
        add: () => {
          throw new Error('disk I/O error');
        },
      },
    };
    await expect(importRun(failing, folder, { paths })).rejects.toThrow('disk I/O error');
    expect(store.runs.list()).toEqual([]);
    expect(readdirSync(outputs)).toEqual([]);
  });

  it("refuses an exported folder that has lost its task's text", async () => {
    const { store, folder } = await trained();
    const file = join(folder, 'run.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('task: interleave', 'task: own'));
    await expect(importRun(store, folder, { paths })).rejects.toMatchObject({ code: 'BAD_TRL_FOLDER' });
  });
});
