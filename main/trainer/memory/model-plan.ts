/** The memory plan of a model folder for every stage of the curriculum, or records of another task, from its config alone. */
import { lookInto } from '../../model/open-weights.ts';
import { checkTensors, unusedWords } from '../../model/unused-tensors.ts';
import { weightsOptions } from '../../model/weight-names.ts';
import { type Budget, precisionFor, type Trained, type WeightBytes, weightBytes, weightCount } from './budget.ts';
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
  /** Of a frozen weight; 2: in 16 bits. */
  readonly weightBytes: WeightBytes;
  readonly stages: readonly StagePlan[];
  /** The same where all weights are trained. */
  readonly full: readonly StagePlan[];
  /** For records that were given; absent: none were. */
  readonly records?: RecordsPlan;
  /** What the model's files hold besides, in a sentence. */
  readonly unused?: string;
}

/** Memory for completions of a task's records. */
export interface RecordsPlan {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly lora: MemoryPlan;
  readonly full: MemoryPlan;
}

const STAGES = [10, 25, 50, 100, 200, 500] as const;
/** Tokens per English word with a 128k vocabulary, with a margin: the plan is for the longest sample. */
const TOKENS_PER_WORD = 1.5;
/** The words around the two fragments in the "process" prompt. */
const FRAME_TOKENS = 150;
const COMPLETIONS = 16;
const LORA = { rank: 16 } as const;

/** The plan for one prompt with 16 completions, by LoRA and for all weights. A folder that can't be trained is refused. */
export function planModel(
  folder: string,
  budget: Budget,
  records: Pick<RecordsPlan, 'promptTokens' | 'completionTokens'> | null = null,
): ModelPlan {
  const config = checkModelFolder(folder);
  const fileBytes = storedBytes(folder);
  const planFor = (trained: Trained, shape: { readonly promptTokens: number; readonly completionTokens: number }) => {
    const precision = precisionFor(config, trained, budget);
    return memoryPlan(config, { ...shape, prompts: 1, group: COMPLETIONS, trained, budget, precision, fileBytes });
  };
  const stagesFor = (trained: Trained): StagePlan[] =>
    STAGES.map((words) => {
      const completionTokens = Math.ceil(2 * words * TOKENS_PER_WORD) + 4;
      return { words, ...planFor(trained, { promptTokens: completionTokens + FRAME_TOKENS, completionTokens }) };
    });
  const unused = unusedWords(
    lookInto(folder, weightsOptions(config), (weights) => checkTensors(weights, config)) ?? [],
  );
  return {
    parameters: weightCount(config),
    device: budget.device,
    budget: budget.bytes,
    weightBytes: weightBytes(precisionFor(config, LORA, budget), fileBytes),
    stages: stagesFor(LORA),
    full: stagesFor('all'),
    ...(records !== null && { records: { ...records, lora: planFor(LORA, records), full: planFor('all', records) } }),
    ...(unused !== null && { unused }),
  };
}
