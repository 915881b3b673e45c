import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fenced, modelCard } from '../../../main/services/publish/card.ts';
import { planDatasetPush } from '../../../main/services/publish/dataset-plan.ts';
import { type ModelPush, type PushPlan, planModelPush } from '../../../main/services/publish/plan.ts';
import { runContent } from '../../../main/services/reports/run-content.ts';
import { evaluationDataset } from '../../../main/services/runs/evaluation.ts';
import { createRun, requireRun } from '../../../main/services/runs/runs.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { HOSTILE, place } from '../reports/reported-run.ts';

/** A LoRA checkpoint of a run of 20 steps, on a base model in a folder of this machine. */
function checkpoint(completion = HOSTILE) {
  const made = place({ steps: 20, everyStep: 10, completion: () => completion });
  const { store, runId, root } = made;
  const base = join(root, 'models/base');
  mkdirSync(base, { recursive: true });
  writeFileSync(join(base, 'config.json'), '{}');
  writeFileSync(join(base, 'README.md'), '---\nlanguage: en\nlicense: apache-2.0\n---\n# Base');
  const folder = join(store.folder, 'outputs/run/checkpoint-20');
  mkdirSync(folder, { recursive: true });
  const files = {
    'adapter_config.json': JSON.stringify({ peft_type: 'LORA', base_model_name_or_path: base }),
    'tokenizer_config.json': `{"name_or_path": ${JSON.stringify(base)}, "model_max_length": 5.0}`,
    'adapter_model.safetensors': 'weights',
    'optimizer.safetensors': 'momentum',
    'trainer_state.json': '{}',
    'rng.json': '{}',
    '.secret': 'key',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  store.checkpoints.record(runId, 20, 'outputs/run/checkpoint-20', 'periodic');
  const evaluate = (step: number, mean: number) =>
    store.evaluations.add(evaluation(runId, evaluationDataset(requireRun(store, runId)), step, mean), []);
  evaluate(0, 0.25);
  evaluate(20, 0.75);
  const plan = (push: Partial<ModelPush> = {}) =>
    planModelPush(made, {
      ...{ repo: 'me/model', folder, trained: folder, runId: null, texts: true, license: null, baseModel: null },
      ...push,
    });
  return { ...made, base, folder, plan, evaluate };
}

function evaluation(runId: number, dataset: string, step: number, mean: number) {
  return {
    ...{ runId, checkpointId: null, model: 'm', step, n: 64, mean, low: mean - 0.1, high: mean + 0.1 },
    dataset,
    ...{ exactMatch: null, metrics: { eval_alignment: mean }, duringTraining: true },
  };
}

function textOf({ files }: PushPlan, name: string): string {
  const content = files.find(({ path }) => path === name)?.content;
  if (!Buffer.isBuffer(content)) throw new Error(`Expected the text of ${name}`);
  return content.toString();
}

describe('planModelPush', () => {
  it('sends what makes the model, its card, curves, configuration and report, and nothing else', async () => {
    const { plan } = checkpoint();
    const { files, notes } = await plan();
    expect(files.map(({ path }) => path)).toEqual([
      ...['README.md', 'adapter_config.json', 'adapter_model.safetensors', 'curves/held-out.png', 'curves/loss.png'],
      ...['curves/reward.png', 'report.html', 'run.yaml', 'tokenizer_config.json'],
    ]);
    expect(notes).toEqual([{ message: "Which repository of the Hub holds base isn't known.", option: 'base-model' }]);
  });

  it('sends no file that a link leads to, but those of a cache of the Hub', async () => {
    const { plan, folder, root } = checkpoint();
    const secret = join(root, 'id_rsa');
    writeFileSync(secret, 'private');
    symlinkSync(secret, join(folder, 'LICENSE'));
    await expect(plan()).rejects.toMatchObject({ code: 'PUSH_LINK', message: expect.stringContaining(secret) });
    const cache = join(root, 'models--me--model');
    for (const name of ['blobs', 'snapshots/1']) mkdirSync(join(cache, name), { recursive: true });
    renameSync(join(folder, 'adapter_model.safetensors'), join(cache, 'blobs/a'));
    symlinkSync('../../blobs/a', join(cache, 'snapshots/1/model.safetensors'));
    expect((await plan({ folder: join(cache, 'snapshots/1') })).files.map(({ path }) => path)).toContain(
      'model.safetensors',
    );
  });

  it('names no folder of this machine', async () => {
    const { plan, root, store } = checkpoint();
    const made = await plan();
    for (const { path, content } of made.files) {
      if (!Buffer.isBuffer(content) || path.endsWith('.png')) continue;
      for (const folder of [root, store.folder]) expect(content.toString(), path).not.toContain(folder);
    }
    expect(JSON.parse(textOf(made, 'adapter_config.json'))).toMatchObject({ base_model_name_or_path: 'base' });
    // transformers refuses 5 where a class has 5.0.
    const text = '{\n  "name_or_path": "base",\n  "model_max_length": 5.0\n}\n';
    expect(textOf(made, 'tokenizer_config.json')).toBe(text);
  });

  it('tells in the card what the Hub reads: licence, base, library and the held-out score', async () => {
    const { plan } = checkpoint();
    const card = textOf(await plan({ baseModel: 'owner/base' }), 'README.md');
    const head = parse(/^---\n(.*?)\n---\n/s.exec(card)?.[1] ?? '') as Record<string, unknown>;
    expect(head).toMatchObject({ license: 'apache-2.0', base_model: 'owner/base', library_name: 'peft' });
    const [entry] = head['model-index'] as { results: { metrics: unknown }[] }[];
    expect(entry?.results[0]?.metrics).toEqual([{ type: 'alignment', value: 0.75, name: 'held-out alignment' }]);
    expect(card).toContain('| alignment | **0.250** [0.150, 0.350] | **0.750** [0.650, 0.850] |');
    expect(card).toContain('from_pretrained("owner/base")');
  });

  it('names what its start was trained by and on, and no held-out records that never were', async () => {
    const { store, root, base, runId } = checkpoint();
    const dataset = join(root, 'datasets/phase2.jsonl');
    const config = parseConfig({ dataset, from_checkpoint: join(store.folder, 'outputs/run/checkpoint-20') });
    const { runId: second } = createRun(store, config, { name: 'second' });
    const { files, earlierMethods } = runContent(store, second, 1);
    expect(requireRun(store, second).parentRunId).toBe(runId);
    expect(earlierMethods).toEqual(['grpo']);
    expect(files.map(({ name, what }) => [what, name])).toEqual([
      ['earlier training records', '10words.jsonl'],
      ['training records', 'phase2.jsonl'],
    ]);
    const subject = {
      repo: 'me/model',
      kind: 'adapter',
      step: null,
      base: { name: base, repo: null },
      isTextPart: false,
    } as const;
    const without = { license: null, gguf: null, curves: [], report: null };
    const content = { ...runContent(store, second, 1), earlierMethods: ['sft', 'sft'] };
    expect(modelCard({ ...subject, ...without }, content)).toContain('by supervised fine-tuning, then by GRPO on the');
  });

  it('loads an adapter on the decoder of a model with images', async () => {
    const { plan, base } = checkpoint();
    expect(textOf(await plan(), 'README.md')).toContain('base = AutoModelForCausalLM.from_pretrained("base")');
    writeFileSync(join(base, 'config.json'), '{"model_type":"gemma3","text_config":{}}');
    const card = textOf(await plan(), 'README.md');
    expect(card).toContain('whole = AutoModelForImageTextToText.from_pretrained("base")');
    expect(card).toContain('base.model, base.lm_head = whole.model.language_model, whole.lm_head\nmodel = PeftModel');
  });

  it('keeps a name that is a date or a number a text, for readers of YAML 1.1 too', async () => {
    const { plan } = checkpoint();
    for (const name of ['2026-11-29', '1_000', 'no'])
      expect(textOf(await plan({ repo: `me/${name}` }), 'README.md')).toContain(`- name: "${name}"\n`);
  });

  it('takes its evaluation and completions from the pushed step, not from later ones', async () => {
    const { plan, evaluate } = checkpoint();
    evaluate(30, 0.1);
    expect(textOf(await plan(), 'README.md')).toContain('| held out | before | step 20 |');
  });

  it('keeps hostile completions inside their block', async () => {
    const { plan } = checkpoint('````\n# owned\n<script>x</script>');
    const card = textOf(await plan(), 'README.md');
    expect(card).toContain('`````\n');
    const outside = card.replaceAll(/^(`{3,})\w*\n.*?^\1$/gms, '');
    expect(outside).not.toContain('owned');
    expect(fenced('a ``` b')).toBe('````\na ``` b\n````');
  });

  it('leaves texts out where they are to stay here', async () => {
    const { plan } = checkpoint('a private answer');
    const made = await plan({ texts: false });
    expect(textOf(made, 'README.md')).not.toContain('a private answer');
    expect(textOf(made, 'README.md')).not.toContain('## Samples');
  });

  it('makes a card without results for a folder of no run', async () => {
    const { plan, base, runId } = checkpoint();
    writeFileSync(join(base, 'model.safetensors'), 'weights');
    const made = await plan({ folder: base, trained: base });
    expect(made.files.map(({ path }) => path)).toEqual(['README.md', 'config.json', 'model.safetensors']);
    expect(textOf(made, 'README.md')).toContain("How it was trained isn't known here.");
    expect(made.notes[0]?.option).toBe('run');
    const known = textOf(await plan({ folder: base, trained: base, runId }), 'README.md');
    expect(known).toMatch(/A model trained from .+ by GRPO on the task/);
  });

  it('refuses a folder without weights', async () => {
    const { plan, root } = checkpoint();
    await expect(plan({ folder: root })).rejects.toMatchObject({ code: 'MODEL_MISSING' });
  });
});

describe('planDatasetPush', () => {
  it('makes a repository that load_dataset reads, with the held-out records as its test split', async () => {
    const file = join(temporaryFolder(), 'pairs.jsonl');
    writeFileSync(file, '{"prompt":"a\u2028","target":"b"}\n\n{"prompt":"c","target":"d"}\n');
    writeFileSync(file.replace('.jsonl', '.test.jsonl'), '{"prompt":"e","target":"f"}\n');
    const made = await planDatasetPush({ repo: 'me/pairs', file, license: 'cc0-1.0' });
    expect(made.files.map(({ path }) => path)).toEqual(['README.md', 'pairs.jsonl', 'pairs.test.jsonl']);
    const card = textOf(made, 'README.md');
    expect(card).toContain('3 records');
    expect(card).toContain('Fields: `prompt`, `target`.');
    expect(parse(/^---\n(.*?)\n---\n/s.exec(card)?.[1] ?? '')).toMatchObject({
      license: 'cc0-1.0',
      configs: [
        {
          data_files: [
            { split: 'train', path: 'pairs.jsonl' },
            { split: 'test', path: 'pairs.test.jsonl' },
          ],
        },
      ],
    });
  });

  it('names a file with brackets by a pattern that only it matches', async () => {
    const file = join(temporaryFolder(), 'pairs [v2].jsonl');
    writeFileSync(file, '{"prompt":"a"}\n');
    const made = await planDatasetPush({ repo: 'me/pairs', file, license: null });
    expect(made.files.map(({ path }) => path)).toContain('pairs [v2].jsonl');
    expect(textOf(made, 'README.md')).toContain('path: pairs [[]v2].jsonl\n');
  });

  it('refuses a file that holds no records', async () => {
    const file = join(temporaryFolder(), 'pairs.jsonl');
    writeFileSync(file, '3\n');
    await expect(planDatasetPush({ repo: 'me/pairs', file, license: null })).rejects.toMatchObject({
      code: 'BAD_DATASET',
    });
  });
});
