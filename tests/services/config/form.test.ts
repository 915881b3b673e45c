import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configForm } from '../../../main/services/config/form.ts';
import { presetsHere } from '../../../main/services/models/starting-model.ts';
import { configFaults, configFields, parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('configForm', () => {
  const form = configForm();
  const field = (name: string) => form.find((known) => known.name === name);

  it('shows every field once, with words and a default that is allowed', () => {
    expect(form.map(({ name }) => name).sort()).toEqual([...configFields].sort());
    for (const { doc, group } of form) expect([doc, group].every((text) => text.length > 2)).toBe(true);
    const defaults = Object.fromEntries(form.map(({ name, default: value }) => [name, value]));
    expect(parseConfig(defaults)).toEqual(parseConfig({}));
  });

  it('says how each is entered', () => {
    expect(field('method')?.input).toMatchObject({ kind: 'choice', options: expect.arrayContaining(['grpo', 'sft']) });
    expect(field('lora_target_modules')?.input).toMatchObject({ kind: 'choices' });
    expect(field('use_peft')).toMatchObject({ input: { kind: 'switch' }, nullable: false, important: true });
    expect(field('gradient_checkpointing')).toMatchObject({ input: { kind: 'switch' }, nullable: true });
    expect(field('max_steps')).toMatchObject({
      unit: 'steps',
      group: 'Learning',
      input: { kind: 'number', whole: true, min: 1, max: null },
    });
    expect(field('top_p')?.input).toEqual({ kind: 'number', whole: false, min: null, max: 1 });
    expect(field('reward_weights')).toMatchObject({ input: { kind: 'numbers' }, nullable: true });
    expect(field('eval_dataset')).toMatchObject({ input: { kind: 'text' }, nullable: true });
  });
});

describe('configFaults', () => {
  it('names the field of each fault, also of a combination', () => {
    expect(configFaults({})).toEqual([]);
    expect(configFaults({ max_steps: 0, temprature: 1 })).toEqual([
      { field: 'max_steps', message: 'expected at least 1, got 0', remedy: null },
      { field: 'temprature', message: 'unknown field "temprature"; did you mean "temperature"?', remedy: null },
    ]);
    expect(configFaults({ num_generations: 7 })).toEqual([
      {
        field: 'per_device_train_batch_size',
        message: expect.stringContaining('multiple of num_generations (7)'),
        remedy: 'Use 133 completions, or a group that divides 128.',
      },
    ]);
  });
});

describe('presetsHere', () => {
  const paths = { resources: resolve(import.meta.dirname, '../../../resources') };

  it('names a model of the workspace as the list of models does, and one that is not there as it stands', () => {
    const folder = temporaryFolder();
    const model = join(folder, 'models', 'Llama-3.2-1B-Instruct');
    mkdirSync(model, { recursive: true });
    const modelOf = (name: string) =>
      presetsHere({ store: { folder }, paths }).find((preset) => preset.name === name)?.fields.model;
    expect(modelOf('interleave-llama-3.2-1b')).toBe(model);
    expect(modelOf('interleave-llama-3.2-3b')).toBe('models/Llama-3.2-3B-Instruct');
    expect(modelOf('interleave-tiny')).toBe('tiny');
  });

  it('gives each preset with what it is for, and fields that can be trained', () => {
    const presets = presetsHere({ store: { folder: '/nowhere' }, paths });
    expect(presets.map(({ name }) => name)).toContain('interleave-tiny');
    for (const { doc, fields } of presets) {
      expect(doc).not.toContain('#');
      expect(configFaults(fields)).toEqual([]);
    }
  });
});
