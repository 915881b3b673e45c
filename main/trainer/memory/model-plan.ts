/** The memory plan of a model folder for every stage of the curriculum, from its config alone. */
import { type Budget, precisionFor, weightBytes, weightCount } from './budget.ts';
import { checkModelFolder } from './model-folder.ts';
import { type MemoryPlan, memoryPlan } from './plan.ts';
import { storedBytes } from './stored-bytes.ts';

/** Memory for a stage of this many words. */
export interface StagePlan extends MemoryPlan {
  readonly words: number;
}

export interface ModelPlan {
  readonly parameters: number;
  readonly device: Budget['device'];
  readonly budget: number;
  /** 2: in 16 bits. */
  readonly weightBytes: 2 | 4;
  readonly stages: readonly StagePlan[];
}

const STAGES = [10, 25, 50, 100, 200, 500] as const;
/** Tokens per English word with a 128k vocabulary, with a margin: the plan is for the longest sample. */
const TOKENS_PER_WORD = 1.5;
/** The words around the two fragments in the "process" prompt. */
const FRAME_TOKENS = 150;
const COMPLETIONS = 16;
const TRAINED = { rank: 16 } as const;

/** The plan for LoRA on one prompt with 16 completions. A folder that can't be trained is refused. */
export function planModel(folder: string, budget: Budget): ModelPlan {
  const config = checkModelFolder(folder);
  const precision = precisionFor(config, TRAINED, budget);
  const fileBytes = storedBytes(folder);
  const stages = STAGES.map((words) => {
    const completionTokens = Math.ceil(2 * words * TOKENS_PER_WORD) + 4;
    const promptTokens = completionTokens + FRAME_TOKENS;
    const shape = { promptTokens, completionTokens, prompts: 1, group: COMPLETIONS, trained: TRAINED };
    return { words, ...memoryPlan(config, { ...shape, budget, precision, fileBytes }) };
  });
  const perWeight = weightBytes(precision, fileBytes);
  return {
    parameters: weightCount(config),
    device: budget.device,
    budget: budget.bytes,
    weightBytes: perWeight,
    stages,
  };
}
