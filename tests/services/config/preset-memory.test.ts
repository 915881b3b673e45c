import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { presetsHere } from '../../../main/services/models/starting-model.ts';
import { parseConfig } from '../../../main/trainer/config.ts';
import { deviceBudget, precisionFor } from '../../../main/trainer/memory/budget.ts';
import { readModelConfig } from '../../../main/trainer/memory/model-folder.ts';
import { memoryPlan } from '../../../main/trainer/memory/plan.ts';
import { temporaryFolder } from '../../store/helpers.ts';

const GIB = 2 ** 30;

/** The shape of Qwen2.5-3B-Instruct. */
function qwen() {
  const folder = temporaryFolder();
  const shape = {
    ...{ architectures: ['Qwen2ForCausalLM'], model_type: 'qwen2', hidden_act: 'silu', hidden_size: 2048 },
    ...{ intermediate_size: 11008, num_attention_heads: 16, num_hidden_layers: 36, num_key_value_heads: 2 },
    ...{ max_position_embeddings: 32768, rms_norm_eps: 1e-6, rope_theta: 1e6, tie_word_embeddings: true },
    ...{ vocab_size: 151936, torch_dtype: 'bfloat16', bos_token_id: 151643, eos_token_id: 151645 },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(shape));
  return readModelConfig(folder);
}

/** The least and the most GiB for `prompts` x `group` replies of 10 to 50 words, on both kinds of GPU. */
function planned(
  model: ReturnType<typeof qwen>,
  shapes: readonly (readonly [prompts: number, group: number])[],
  gib: number,
): [number, number] {
  const totals = (['native-gpu', 'webgpu'] as const).flatMap((device) => {
    const budget = deviceBudget(device, gib * GIB);
    const residents = { trained: { rank: 16 }, precision: precisionFor(model, { rank: 16 }, budget), budget };
    return shapes.flatMap(([prompts, group]) =>
      Array.from({ length: 9 }, (_, i) => Math.ceil((5 * i + 10) * 1.5) + 4).map((completionTokens) => {
        // A post is about as long as its reply.
        const tokens = { completionTokens, promptTokens: completionTokens + 150 };
        return memoryPlan(model, { ...residents, ...tokens, prompts, group }).total / GIB;
      }),
    );
  });
  return [Math.round(Math.min(...totals)), Math.round(Math.max(...totals))];
}

it.each(['qwen2.5-baseline', 'qwen2.5-polychromic', 'qwen2.5-grpo', 'qwen2.5-polychromic_grpo'])(
  '%s says the memory that the planner plans for its own batch',
  (name) => {
    const model = qwen();
    const paths = { resources: resolve(import.meta.dirname, '../../../resources') };
    const preset = presetsHere({ store: { folder: '/nowhere' }, paths }).find((one) => one.name === name);
    const {
      method,
      per_device_train_batch_size: rows,
      num_generations: group,
      polychromic_prompts,
    } = parseConfig(preset?.fields);
    const sampled = [polychromic_prompts ?? rows, group] as const;
    const shapes = {
      sft: [[rows, 1]],
      'polychromic-sft': [[rows, 1], sampled],
      grpo: [[rows / group, group]],
      'polychromic-grpo': [[rows / group, group]],
    } as const;
    const said = /: (\d+) to (\d+) GiB of 12, (\d+) to (\d+) of 24, (\d+) to (\d+) of 48\.$/.exec(preset?.doc ?? '');
    expect(said?.slice(1).map(Number)).toEqual([12, 24, 48].flatMap((gib) => planned(model, shapes[method], gib)));
  },
);
