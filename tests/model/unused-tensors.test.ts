import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readModelConfig } from '../../main/model/config.ts';
import { openWeights } from '../../main/model/open-weights.ts';
import { checkTensors, unusedTensors, unusedWords } from '../../main/model/unused-tensors.ts';
import { weightsOptions } from '../../main/model/weight-names.ts';

const families = join(import.meta.dirname, '../parity/fixtures/families');
const configOf = (family: string) => readModelConfig(join(families, family));
const left = (names: readonly string[], changes: object, family = 'mistral'): readonly string[] =>
  unusedTensors(names, new Set(['model.layers.0.mlp.up_proj.weight']), { ...configOf(family), ...changes });

function others(family: string, layersLess = 0): readonly string[] {
  const config = configOf(family);
  const weights = openWeights(join(families, family), weightsOptions(config));
  try {
    return checkTensors(weights, { ...config, numLayers: config.numLayers - layersLess });
  } finally {
    weights.close();
  }
}

describe('checkTensors', () => {
  it.each(readdirSync(families))('finds a place for every tensor that transformers wrote: %s', (family) => {
    expect(others(family)).toEqual([]);
  });

  it('names those of layers that config.json has not', () => {
    expect(others('mistral', 1)).toContain('model.layers.1.mlp.down_proj.weight');
  });
});

describe('unusedTensors', () => {
  it('names further layers and biases that a model has no place for', () => {
    const names = ['model.layers.0.mlp.up_proj.weight', 'model.layers.9.mlp.up_proj.weight', 'lm_head.bias'];
    expect(left(names, {})).toEqual(names.slice(1));
  });

  it('leaves out what transformers leaves out without a word', () => {
    const names = ['model.layers.0.self_attn.rotary_emb.inv_freq', 'mtp.layers.0.mlp.up_proj.weight', 'lm_head.weight'];
    expect(left(names, { tieWordEmbeddings: true })).toEqual([]);
    expect(left(names, { tieWordEmbeddings: false })).toEqual(['lm_head.weight']);
    // Keys of layers that attend to an earlier one's.
    expect(
      left(
        [2, 3].map((n) => `model.layers.${n}.self_attn.k_proj.weight`),
        {},
        'gemma4',
      ),
    ).toEqual(['model.layers.2.self_attn.k_proj.weight']);
  });

  it("leaves out a larger model's other parts, and the parts of a quantised weight", () => {
    const names = ['model.visual.blocks.0.weight', 'model.language_model.layers.9.mlp.up_proj.weight'];
    expect(left(names, { textPart: true })).toEqual(names.slice(1));
    const parts = ['model.layers.0.mlp.up_proj.weight.absmax', 'model.layers.1.mlp.up_proj.scales'];
    expect(left(parts, { quantisation: {} })).toEqual(parts.slice(1));
  });
});

describe('unusedWords', () => {
  it('names the first', () => {
    expect(unusedWords([])).toBeNull();
    expect(unusedWords(['a'])).toContain('(a)');
    expect(unusedWords(['a', 'b', 'c'])).toContain('(a and 2 more)');
  });
});
