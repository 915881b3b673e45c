/** Against PEFT: see lora.py, which made the adapters and the values. Our adapters in PEFT: README.md. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { type Adapter, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { encodeAdapter, loadAdapter } from '../../main/model/peft.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { openTestBackends } from '../backends.ts';
import { FEW_TOKENS, greedyOptions, largestDifference } from './compare.ts';
import { mergeAdapter } from './merge-adapter.ts';

interface Reference {
  readonly name: string;
  readonly base: string;
  readonly prompts: readonly (readonly number[])[];
  readonly completions: readonly (readonly number[])[];
  readonly logps: readonly (readonly number[])[];
  readonly greedy: readonly (readonly number[])[];
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const references = JSON.parse(readFileSync(fixture('adapters.json'), 'utf8')) as readonly Reference[];
const backends = await openTestBackends();

describe.each(backends)('on $name', (backend) => {
  beforeAll(backend.use);

  describe.each(references)('the adapter $name of PEFT', (reference) => {
    const folder = fixture(`adapters/${reference.name}`);
    let model: Model;
    let adapter: Adapter;
    beforeAll(() => {
      model = loadModel(fixture(`models/${reference.base}`), 128);
      adapter = loadAdapter(folder, model);
    });
    afterAll(() => {
      disposeAdapter(adapter);
      disposeModel(model);
    });

    const items = reference.prompts.map((promptIds, i) => ({
      promptIds,
      completionIds: reference.completions[i] ?? [],
    }));

    it('gives the log-probabilities of PEFT', () => {
      expect(largestDifference(scoreCompletions(model, adapter, items), reference.logps)).toBeLessThan(1e-4);
    });

    it('generates the tokens of PEFT', () => {
      const most = backend.slow ? FEW_TOKENS : undefined;
      const ours = generate(model, adapter, reference.prompts, greedyOptions([2], most));
      expect(ours.map(({ ids }) => ids)).toEqual(reference.greedy.map((ids) => ids.slice(0, most)));
    });

    it('gives them merged into the base too, and unmerging takes it out again', () => {
      const before = scoreCompletions(model, null, items);
      mergeAdapter(model, adapter);
      expect(largestDifference(scoreCompletions(model, null, items), reference.logps)).toBeLessThan(1e-4);
      mergeAdapter(model, adapter, -1);
      expect(largestDifference(scoreCompletions(model, null, items), before)).toBeLessThan(1e-4);
    });

    it('is written back as the bytes that PEFT wrote', () => {
      const written = encodeAdapter(adapter, reference.base)['adapter_model.safetensors'];
      expect(readFileSync(`${folder}/adapter_model.safetensors`).equals(written as Uint8Array)).toBe(true);
    });

    it('is written back with settings that PEFT has too', () => {
      const theirs = JSON.parse(readFileSync(`${folder}/adapter_config.json`, 'utf8')) as Record<string, unknown>;
      const ours = JSON.parse(encodeAdapter(adapter, reference.base)['adapter_config.json'] as string);
      expect(Object.keys(theirs)).toEqual(expect.arrayContaining(Object.keys(ours)));
      const targeting = ['target_modules', 'layers_to_transform'];
      const plain = Object.entries(ours).filter(([key]) => !targeting.includes(key));
      expect(Object.fromEntries(plain.map(([key]) => [key, theirs[key]]))).toEqual(Object.fromEntries(plain));
    });
  });
});
