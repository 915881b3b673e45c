import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { loadTokenizer } from '../../../main/model/tokenizer.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { findTask } from '../../../main/services/tasks/find-task.ts';
import { exportForTrl, inputsOfConfig, inputsOfRun } from '../../../main/services/trl/export.ts';
import { readmeText } from '../../../main/services/trl/readme.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyAdapter, writeTinyModel } from '../../tiny-model.ts';
import { exportTinyStage, home, paths, tinyStage } from './tiny-export.ts';

const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the README of an export', () => {
  it('says of quantised weights what transformers needs', () => {
    const config = parseConfig({ task: 'interleave', model: 'm', dataset: 'd' });
    const facts = { config, task: 't', model: 'm', train: 1, test: 0, maxCompletionLength: 9, notCarried: [] };
    expect(readmeText({ ...facts, quantised: 'MLX' })).toContain('quantised (MLX)');
    expect(readmeText({ ...facts, quantised: null })).not.toContain('quantised');
  });
});

describe('exportForTrl', () => {
  it('writes the programs, the settings, and the prompts with the ids that Braid sends', async () => {
    const root = temporaryFolder();
    const made = await exportTinyStage(temporaryStore(), root, { dynamic_sampling: 2 });
    expect(made).toMatchObject({ folder: join(root, 'export'), train: 12, test: 4 });
    const read = (name: string): string => readFileSync(join(made.folder, name), 'utf8');
    expect(read('requirements.txt')).toContain('trl==1.16.0\n');
    expect(read('train.py')).toContain('GRPOTrainer');
    expect(read('README.md')).toContain('\n- `dynamic_sampling: 2`: TRL keeps groups');
    const settings = JSON.parse(read('settings.json'));
    expect(settings).toMatchObject({
      model: join(root, 'model'),
      rewards: ['alignment'],
      eval_steps: 2,
      lora: { r: 2, lora_alpha: 4, use_rslora: false, bias: 'none', lora_dropout: 0 },
      // Four target words and the end token, and a margin.
      args: { max_completion_length: 9, num_generations: 4, max_steps: 3, loss_type: 'dapo', seed: 42 },
    });
    const [first] = linesOf(join(made.folder, 'train.jsonl'));
    const [source] = linesOf(join(root, '2words.jsonl'));
    expect(first).toMatchObject({ id: source.id, split: 'train', prompt: source.prompt, target: source.target });
    expect(first.prompt_ids).toEqual(loadTokenizer(join(root, 'model')).encode(source.prompt, true));
    expect(JSON.parse(first.record)).toMatchObject({ fragment_a: source.fragment_a, prompt: source.prompt });
  });

  it('renders prompts through the chat template, with the system prompt', async () => {
    const root = temporaryFolder();
    const config = await tinyStage(root, { system_prompt: 'wa wb' });
    const template = '{% for m in messages %}<a>{{ m.content }}<b>{% endfor %}<out>';
    writeFileSync(join(root, 'model', 'chat_template.jinja'), template);
    const { folder } = exportForTrl(inputsOfConfig(temporaryStore(), config, paths), join(root, 'export'), paths, home);
    const [first] = linesOf(join(folder, 'train.jsonl'));
    expect(first.prompt).toBe(`<a>wa wb<b><a>${JSON.parse(first.record).prompt}<b><out>`);
    expect(first.prompt_ids).toEqual(loadTokenizer(join(root, 'model')).encode(first.prompt));
  });

  it('refuses chat settings that the template cannot mean, and names those that it does not use', async () => {
    const root = temporaryFolder();
    const exported = async (fields: object, template: string) => {
      const config = { ...(await tinyStage(root)), ...fields };
      writeFileSync(join(root, 'model', 'chat_template.jinja'), template);
      return exportForTrl(inputsOfConfig(temporaryStore(), config, paths), join(root, 'export'), paths, home);
    };
    const turns = '{% for m in messages %}{{ m.content }}{% endfor %}';
    const thinks = `${turns}{% if enable_thinking is false %}<b>{% endif %}`;
    for (const chat_template_kwargs of [{ enable_thinking: 'no' }, { enable_thinking: 0 }, { enable_thinkin: false }])
      await expect(exported({ chat_template_kwargs }, thinks)).rejects.toMatchObject({ code: 'BAD_CHAT_SETTINGS' });
    const refuses = `{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}${turns}`;
    await expect(exported({ system_prompt: 'wa' }, refuses)).rejects.toMatchObject({ code: 'SYSTEM_ROLE_REFUSED' });
    const made = await exported({ chat_template_kwargs: { budget: 3 } }, thinks);
    expect(made.unused_chat_settings).toEqual([expect.stringContaining('reads no "budget"')]);
  });

  it("keeps the text of a run's own task and the adapter that it started from", async () => {
    const root = temporaryFolder();
    const store = temporaryStore();
    const config = await tinyStage(root);
    const model = await writeTinyModel(config.model);
    const adapter = join(root, 'checkpoint-5');
    writeTinyAdapter(adapter, model, config.model);
    disposeModel(model);
    const records = linesOf(config.dataset).map(({ id, fragment_a, fragment_b }) => ({
      id,
      first: fragment_a,
      second: fragment_b,
    }));
    writeFileSync(join(root, 'own.jsonl'), records.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const task = findTask('second-text', { workspace: store.folder, paths });
    const run = createRun(
      store,
      { ...config, task: 'second-text', dataset: join(root, 'own.jsonl'), from_checkpoint: adapter },
      { task },
    );
    const { folder } = exportForTrl(inputsOfRun(store, run.runId, paths), join(root, 'export'), paths, home);
    expect(existsSync(join(folder, 'tasks/second-text/reward.ts'))).toBe(true);
    expect(existsSync(join(folder, 'adapter/adapter_model.safetensors'))).toBe(true);
    // The adapter's base, which is where the adapter goes.
    expect(JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')).model).toBe(config.model);
  });

  it('trains all weights without an adapter', async () => {
    const { folder } = await exportTinyStage(temporaryStore(), temporaryFolder(), { use_peft: false });
    expect(JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')).lora).toBeNull();
  });

  it.each([
    ['TRL_METHOD', { method: 'sft' }],
    ['TRL_RELEVANCE_MODEL', { relevance_model: 'encoder' }],
    ['TRL_DATASET_TOO_SMALL', { per_device_train_batch_size: 64 }],
  ] as const)('refuses what TRL cannot do: %s', async (code, changes) => {
    const root = temporaryFolder();
    await expect(exportTinyStage(temporaryStore(), root, changes)).rejects.toMatchObject({ code, kind: 'input' });
    expect(existsSync(join(root, 'export'))).toBe(false);
  });

  it('refuses equal prompts with other token ids', async () => {
    const root = temporaryFolder();
    const store = temporaryStore();
    const inputs = inputsOfConfig(store, await tinyStage(root), paths);
    const [record, other] = inputs.records as unknown as { fragment_a: string; prompt: string }[];
    // One has the control token <b> in its own text, where it is characters; the other has it in its template.
    const file = join(root, 'model', 'tokenizer.json');
    const tokenizer = JSON.parse(readFileSync(file, 'utf8'));
    const { vocab } = tokenizer.model;
    // An added token that isn't in the vocabulary comes after it: its last token takes the place of <b>.
    const last = Object.keys(vocab).length - 1;
    const moved = Object.keys(vocab).find((token) => vocab[token] === last) ?? '';
    vocab[moved] = vocab['<b>'];
    delete vocab['<b>'];
    for (const token of tokenizer.added_tokens) if (token.content === '<b>') token.id = last;
    writeFileSync(file, JSON.stringify(tokenizer));
    const prompt = '<a> wa <b> wb <b> <out>';
    const records = [
      { ...record, id: 'one', prompt, fragment_a: 'wa <b> wb' },
      { ...other, id: 'two', prompt, fragment_a: 'wa' },
      ...inputs.records.slice(2),
    ];
    expect(() => exportForTrl({ ...inputs, records: records as never }, join(root, 'export'), paths, home)).toThrow(
      expect.objectContaining({ code: 'TRL_PROMPT_AMBIGUOUS' }),
    );
  });

  it('leaves a folder alone that has something in it', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'export'));
    writeFileSync(join(root, 'export', 'thesis.txt'), 'mine');
    await expect(exportTinyStage(temporaryStore(), root)).rejects.toMatchObject({ code: 'OUTPUT_NOT_EMPTY' });
    expect(readFileSync(join(root, 'export', 'thesis.txt'), 'utf8')).toBe('mine');
    const other = temporaryFolder();
    writeFileSync(join(other, 'export'), 'mine');
    await expect(exportTinyStage(temporaryStore(), other)).rejects.toMatchObject({ code: 'OUTPUT_NOT_EMPTY' });
  });

  it('lists the engine that a stage would have trained on', async () => {
    const root = temporaryFolder();
    const inputs = inputsOfConfig(temporaryStore(), parseConfig({ ...(await tinyStage(root)), engine: 'gpu' }), paths);
    expect(exportForTrl(inputs, join(root, 'export'), paths, home).not_carried_over).toContainEqual(
      expect.objectContaining({ field: 'engine', value: 'gpu' }),
    );
  });
});
