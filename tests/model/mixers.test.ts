/** What holds for every kind of mixer that a layer may have. */
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../../main/model/config.ts';
import { ownTargets } from '../../main/model/lora.ts';
import { attentionLayers, mixerOf } from '../../main/model/mixers/index.ts';
import { parameterShapes } from '../../main/model/model.ts';
import { cacheBytes, kvBytesPerToken } from '../../main/trainer/memory/plan.ts';

const SIZES = {
  vocab_size: 96,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
};
const SEVEN = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const LFM2 = parseModelConfig({ ...SIZES, model_type: 'lfm2', full_attn_idxs: [2] }, 'lfm2');
const QWEN = parseModelConfig(
  { ...SIZES, model_type: 'qwen3_5_text', head_dim: 16, linear_num_key_heads: 2, linear_num_value_heads: 4 },
  'qwen3_5_text',
);

describe('mixers', () => {
  it('have the tensors of their layer only', () => {
    const inLayer = (layer: number): string[] =>
      [...parameterShapes(LFM2).keys()].filter((name) => name.startsWith(`model.layers.${layer}.`));
    expect(inLayer(0)).toContain('model.layers.0.conv.in_proj.weight');
    expect(inLayer(0).some((name) => name.includes('self_attn'))).toBe(false);
    expect(inLayer(2).some((name) => name.includes('.conv.'))).toBe(false);
    expect(attentionLayers(LFM2)).toEqual([2]);
  });

  it('keep keys and values, or states of a fixed width', () => {
    const kind = mixerOf(QWEN, 0);
    expect([kind.tokenFloats(QWEN), kind.stateWidths(QWEN)]).toEqual([0, [3 * (2 * 256 + 512), 128 * 512]]);
    const attends = mixerOf(QWEN, 3);
    expect([attends.tokenFloats(QWEN), attends.stateWidths(QWEN)]).toEqual([2 * 2 * 16, []]);
    expect(kvBytesPerToken(QWEN)).toBe(4 * 64);
  });

  it('are counted by rows where they keep states, however long a text is', () => {
    const shape = { promptTokens: 10, completionTokens: 10, group: 4 };
    const states = 4 * 3 * (3 * 1024 + 128 * 512);
    const more = cacheBytes(QWEN, shape, 8) - cacheBytes(QWEN, shape, 4);
    expect(more).toBeGreaterThan(4 * states);
    const longer = cacheBytes(QWEN, { ...shape, completionTokens: 20 }, 8) - cacheBytes(QWEN, shape, 8);
    expect(longer).toBe(8 * 10 * 1.25 * 4 * 64);
  });

  it('give adapters their linear layers by the names of PEFT', () => {
    expect([...ownTargets({ config: LFM2 }, SEVEN)].sort()).toEqual(
      ['in_proj', 'k_proj', 'out_proj', 'q_proj', 'v_proj', 'w1', 'w2', 'w3'].sort(),
    );
    expect(ownTargets({ config: LFM2 }, ['o_proj', 'down_proj'])).toEqual(['out_proj', 'w2']);
    const delta = ['in_proj_a', 'in_proj_b', 'in_proj_qkv', 'in_proj_z', 'out_proj'];
    expect([...ownTargets({ config: QWEN }, SEVEN)].sort()).toEqual([...SEVEN, ...delta].sort());
    expect(ownTargets({ config: QWEN }, ['in_proj_z'])).toEqual(['in_proj_z']);
    const dense = { model_type: 'granitemoehybrid', layer_types: Array(4).fill('attention'), num_local_experts: 0 };
    const granite = parseModelConfig({ ...SIZES, ...dense }, 'granitemoehybrid');
    const linears = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'input_linear', 'output_linear'];
    expect(ownTargets({ config: granite }, SEVEN)).toEqual(linears);
    const sizes = { layer_types: ['mamba', 'attention', 'mamba', 'mamba'], mamba_n_heads: 8, mamba_d_state: 16 };
    const hybrid = { config: parseModelConfig({ ...SIZES, ...dense, ...sizes }, 'granitemoehybrid') };
    expect([...ownTargets(hybrid, SEVEN)].sort()).toEqual([...linears, 'in_proj', 'out_proj'].sort());
    expect(ownTargets(hybrid, ['in_proj', 'gate_proj'])).toEqual(['in_proj', 'input_linear']);
    expect(mixerOf(hybrid.config, 0).stateWidths(hybrid.config)).toEqual([3 * (64 + 2 * 16), 16 * 64]);
  });
});
