/**
 * The four methods of the reply system and their presets. One rule: a model of fewer parameters than `REAL_PARAMETERS`
 * trains by the tiny model's settings, a larger one by those for real models, whose rates are a tenth.
 */
import type { Store } from '../../store/index.ts';
import { weightCount } from '../../trainer/memory/budget.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import { type ConfigFields, readPreset } from '../config/presets.ts';
import { resolveModel } from '../models/resolve.ts';
import { rootModel } from '../models/starting-model.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** The smallest language models that were trained on text have several times as many. */
const REAL_PARAMETERS = 20e6;

/** The four runs, in order. */
export const replyRuns = ['baseline', 'polychromic', 'grpo_from_baseline', 'polychromic_grpo'] as const;
export type ReplyRun = (typeof replyRuns)[number];

const REAL: Readonly<Record<ReplyRun, string>> = {
  baseline: 'qwen2.5-baseline',
  polychromic: 'qwen2.5-polychromic',
  grpo_from_baseline: 'qwen2.5-grpo',
  polychromic_grpo: 'qwen2.5-polychromic_grpo',
};

/** What is trained: a model, and the checkpoint that it is continued from; by default the tiny presets' own model. */
export interface ReplyStart {
  readonly model?: string | undefined;
  readonly from_checkpoint?: string | null | undefined;
}

/** The name of a method's preset for this start. */
export function replyPreset(store: Store, run: ReplyRun, start: ReplyStart, paths: HostPaths): string {
  const { model, from_checkpoint = null } = start;
  if (model === undefined && from_checkpoint === null) return run;
  const root = rootModel(store, { model: model ?? '', from_checkpoint }, paths);
  return isReal(root, paths) ? REAL[run] : run;
}

function isReal(model: string, paths: HostPaths): boolean {
  try {
    return weightCount(readModelConfig(resolveModel(model, paths))) >= REAL_PARAMETERS;
  } catch {
    // One that can't be read is reported at the start; until then the careful settings hold.
    return true;
  }
}

/** A method's settings for this start, which they begin with. */
export function replyFields(store: Store, run: ReplyRun, start: ReplyStart, paths: HostPaths): ConfigFields {
  const { model, from_checkpoint = null } = start;
  const fields = readPreset(replyPreset(store, run, start, paths), paths);
  return { ...fields, ...(model !== undefined && { model }), from_checkpoint };
}
