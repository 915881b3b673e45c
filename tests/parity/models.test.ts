/** Against transformers: see models.py, which made the folders and the values. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { openTestBackends } from '../backends.ts';
import { FEW_TOKENS, greedyOptions, largestDifference } from './compare.ts';

interface Reference {
  readonly name: string;
  readonly prompts: readonly (readonly number[])[];
  readonly completions: readonly (readonly number[])[];
  readonly logps: readonly (readonly number[])[];
  readonly eos: readonly number[];
  readonly greedy: readonly (readonly number[])[];
  readonly penalised: readonly (readonly number[])[];
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const references = JSON.parse(readFileSync(fixture('models.json'), 'utf8')) as readonly Reference[];
const backends = await openTestBackends();

describe.each(backends)('on $name', (backend) => {
  beforeAll(backend.use);
  const most = backend.slow ? FEW_TOKENS : undefined;

  describe.each(references)('$name', (reference) => {
    let model: Model;
    beforeAll(() => {
      model = loadModel(fixture(`models/${reference.name}`), 128);
    });
    afterAll(() => disposeModel(model));

    const items = reference.prompts.map((promptIds, i) => ({
      promptIds,
      completionIds: reference.completions[i] ?? [],
    }));

    it('gives the log-probabilities of transformers', () => {
      const ours = scoreCompletions(model, null, items);
      expect(largestDifference(ours, reference.logps)).toBeLessThan(1e-4);
    });

    it.skipIf(backend.slow)('gives them sequence by sequence too', () => {
      const ours = items.flatMap((item) => scoreCompletions(model, null, [item], { maxTokens: 1 }));
      expect(largestDifference(ours, reference.logps)).toBeLessThan(1e-4);
    });

    it('generates greedily, through its cache, the tokens of transformers, up to any of several end tokens', () => {
      const ours = generate(model, null, reference.prompts, greedyOptions(reference.eos, most));
      const expected = reference.greedy.map((ids) => ids.slice(0, most));
      expect(ours.map(({ ids }) => ids)).toEqual(expected);
      expect(ours.map(({ terminated }) => terminated)).toEqual(
        expected.map((ids) => reference.eos.includes(ids.at(-1) ?? -1)),
      );
    });

    it('penalises repetitions as transformers does', () => {
      const options = { ...greedyOptions(reference.eos, most), repetitionPenalty: 1.3 };
      const ours = generate(model, null, reference.prompts, options);
      expect(ours.map(({ ids }) => ids)).toEqual(reference.penalised.map((ids) => ids.slice(0, most)));
    });
  });
});
