/** The memory plan of a model folder for every stage of the curriculum, from its config alone. */
import { readModelConfig } from '../model/config.ts';
import { type MemoryPlan, memoryPlan, weightCount } from './memory-plan.ts';

/** What a stage of so many words takes. */
export interface StagePlan extends MemoryPlan {
  readonly words: number;
}

export interface ModelPlan {
  readonly parameters: number;
  readonly budget: number;
  /** 2: as bfloat16, because more stages fit so. */
  readonly weightBytes: 2 | 4;
  readonly stages: readonly StagePlan[];
}

const STAGES = [10, 25, 50, 100, 200, 500] as const;
/** An English word of a 128k vocabulary, with room: the plan is for the longest sample. */
const TOKENS_PER_WORD = 1.5;
/** The words around the two fragments in the "process" prompt. */
const FRAME_TOKENS = 150;
const COMPLETIONS = 16;
const LORA_RANK = 16;

/** The plan of LoRA on one prompt with 16 completions, within so many bytes. */
export function planModel(folder: string, budget: number): ModelPlan {
  const config = readModelConfig(folder);
  const stages = (weightBytes: 2 | 4): readonly StagePlan[] =>
    STAGES.map((words) => {
      const completionTokens = Math.ceil(2 * words * TOKENS_PER_WORD) + 4;
      const promptTokens = completionTokens + FRAME_TOKENS;
      const shape = { promptTokens, completionTokens, prompts: 1, group: COMPLETIONS, loraRank: LORA_RANK };
      return { words, ...memoryPlan(config, { ...shape, budget, weightBytes }) };
    });
  const fitting = (plans: readonly StagePlan[]): number => plans.filter(({ fits }) => fits).length;
  const [full, half] = [stages(4), stages(2)];
  const weightBytes = fitting(half) > fitting(full) ? 2 : 4;
  return { parameters: weightCount(config), budget, weightBytes, stages: weightBytes === 4 ? full : half };
}
