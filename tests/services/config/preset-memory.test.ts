import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { presetsHere } from '../../../main/services/models/starting-model.ts';
import { isReinforcement, parseConfig } from '../../../main/trainer/config/config.ts';
import { deviceBudget, precisionFor } from '../../../main/trainer/memory/budget.ts';
import { readModelConfig } from '../../../main/trainer/memory/model-folder.ts';
import { memoryPlan } from '../../../main/trainer/memory/plan.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const GIB = 2 ** 30;

type Shape = Readonly<Record<string, unknown>>;

/** What the published shapes have in common with one another. */
function modelOf(shape: Shape) {
  const folder = temporaryFolder();
  const common = { hidden_act: 'silu', tie_word_embeddings: true, torch_dtype: 'bfloat16' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...common, ...shape }));
  return readModelConfig(folder);
}

const QWEN_3B: Shape = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  hidden_size: 2048,
  intermediate_size: 11008,
  num_attention_heads: 16,
  num_hidden_layers: 36,
  num_key_value_heads: 2,
  max_position_embeddings: 32768,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  vocab_size: 151936,
  bos_token_id: 151643,
  eos_token_id: 151645,
};
const LLAMA: Shape = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  intermediate_size: 8192,
  num_key_value_heads: 8,
  max_position_embeddings: 131072,
  rms_norm_eps: 1e-5,
  rope_theta: 500000,
  vocab_size: 128256,
};
const LLAMA_1B: Shape = { ...LLAMA, hidden_size: 2048, num_attention_heads: 32, num_hidden_layers: 16, head_dim: 64 };
const LLAMA_3B: Shape = { ...LLAMA, hidden_size: 3072, num_attention_heads: 24, num_hidden_layers: 28, head_dim: 128 };

/** Prompts and completions of each that are trained on together, or sampled together. */
interface Together {
  readonly phase: 'trained' | 'sampled';
  readonly prompts: number;
  readonly group: number;
}

/** The least and the most GiB over the lengths, on both kinds of GPU. */
function planned(
  model: ReturnType<typeof modelOf>,
  all: readonly Together[],
  lengths: readonly number[],
  gib: number,
): [number, number] {
  const totals = (['native-gpu', 'webgpu'] as const).flatMap((device) => {
    const budget = deviceBudget(device, gib * GIB);
    const residents = { trained: { rank: 16 }, precision: precisionFor(model, { rank: 16 }, budget), budget };
    return lengths.map((completionTokens) => {
      // A prompt is about as long as its completion.
      const tokens = { completionTokens, promptTokens: completionTokens + 150 };
      const steps = all.map(({ phase, ...shape }) => {
        const { total, cache, activations } = memoryPlan(model, { ...residents, ...tokens, ...shape });
        return total - Math.max(cache, activations) + (phase === 'trained' ? activations : cache);
      });
      return Math.max(...steps) / GIB;
    });
  });
  return [Math.round(Math.min(...totals)), Math.round(Math.max(...totals))];
}

const REPLIES = Array.from({ length: 9 }, (_, i) => Math.ceil((5 * i + 10) * 1.5) + 4);
const STAGES = [10, 25, 50, 100, 200, 500].map((words) => 3 * words + 4);

it.each([
  ['interleave-llama-3.2-1b', LLAMA_1B, STAGES],
  ['interleave-llama-3.2-3b', LLAMA_3B, STAGES],
  ['qwen2.5-baseline', QWEN_3B, REPLIES],
  ['qwen2.5-polychromic', QWEN_3B, REPLIES],
  ['qwen2.5-grpo', QWEN_3B, REPLIES],
  ['qwen2.5-polychromic_grpo', QWEN_3B, REPLIES],
])('%s says the memory that the planner plans for its own batch', (name, shape, lengths) => {
  const paths = { resources: resolve(import.meta.dirname, '../../../resources') };
  const preset = presetsHere({ store: { folder: '/nowhere' }, paths }).find((one) => one.name === name);
  const config = parseConfig(preset?.fields);
  const { method, per_device_train_batch_size: rows, num_generations: group, polychromic_prompts } = config;
  const groups = rows / group;
  const together: Together[] = isReinforcement(method)
    ? [
        { phase: 'trained', prompts: groups, group },
        { phase: 'sampled', prompts: groups * config.gradient_accumulation_steps, group },
      ]
    : [{ phase: 'trained', prompts: rows, group: 1 }];
  // The loss on what was sampled is taken at once.
  if (method === 'polychromic-sft') together.push({ phase: 'trained', prompts: polychromic_prompts ?? rows, group });
  const said = /: (\d+) to (\d+) GiB of 12, (\d+) to (\d+) of 24, (\d+) to (\d+) of 48\.$/.exec(preset?.doc ?? '');
  const expected = [12, 24, 48].flatMap((gib) => planned(modelOf(shape), together, lengths, gib));
  expect(said?.slice(1).map(Number)).toEqual(expected);
});
