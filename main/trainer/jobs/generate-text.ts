/** Job: one model completes one prompt, streaming its text. */
import { inputError } from '../../errors.ts';
import type { ModelConfig } from '../../model/config.ts';
import { UNFILTERED } from '../../model/sampler.ts';
import { openStops, withStops } from '../../model/stop-strings.ts';
import { encodePrompt, endTokens, type Tokenizer } from '../../model/tokenizer.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { checkTokens, completionLength, endToken } from '../batching/prompts.ts';
import { generateWithin } from '../memory/generate-within.ts';
import { openPolicy } from '../memory/open-policy.ts';
import type { ModelParts } from '../policy/model-parts.ts';
import { openTokenizer } from './answering-model.ts';
import type { JobIo } from './job-io.ts';
import { openShownText } from './shown-text.ts';

export interface GenerateJob extends BackendChoice {
  readonly kind: 'generate';
  readonly model: ModelParts;
  /** The models that other processes ask the same. */
  readonly beside: readonly ModelParts[];
  readonly prompt: string;
  /** The parts of the prompt that somebody wrote: control tokens in them are characters. */
  readonly quoted: readonly string[];
  /** The exact target: determines the length if none is given. */
  readonly target: string;
  /** In tokens; null: the target's length plus a margin. */
  readonly maxNewTokens: number | null;
  /** 0: always the most likely token. */
  readonly temperature: number;
  readonly seed: number;
}

export interface GenerateResult {
  readonly text: string;
  /** Tokens, including the end token. */
  readonly tokens: number;
  readonly promptTokens: number;
  /** False if it hit the length limit. */
  readonly terminated: boolean;
  /** Generation only. */
  readonly seconds: number;
}

/** Completes the prompt. */
export async function runGenerateJob(job: GenerateJob, io: JobIo): Promise<GenerateResult> {
  const { temperature, seed, model: parts } = job;
  const { tokenizer, config } = openTokenizer(parts);
  const promptIds = encodePrompt(tokenizer, job.prompt, job.quoted);
  checkTokens(promptIds, tokenizer, config.vocabSize, 'the prompt');
  const maxNewTokens = job.maxNewTokens ?? lengthOf(job.target, tokenizer, config);
  if (promptIds.length === 0) throw inputError('EMPTY_PROMPT', 'Expected a prompt of at least one token, got none');
  const { policy, activationMb, dispose } = openPolicy(parts, promptIds.length + maxNewTokens, job.beside);
  try {
    const eosTokenIds = endTokens(tokenizer, config.eosTokenIds);
    const stops = openStops(tokenizer);
    const { onToken, onRow } = openShownText(io, withStops(tokenizer), eosTokenIds);
    const began = performance.now();
    const [completion] = generateWithin(policy, [promptIds], activationMb, {
      numGenerations: 1,
      maxNewTokens,
      temperature,
      ...UNFILTERED,
      coordinates: [seed],
      eosTokenIds,
      onRow,
      onToken,
      ...(stops && { stops }),
    });
    const { ids: all = [], terminated = false } = completion ?? {};
    const seconds = (performance.now() - began) / 1000;
    return {
      text: withStops(tokenizer).decode(all),
      tokens: all.length,
      promptTokens: promptIds.length,
      terminated,
      seconds,
    };
  } finally {
    dispose();
  }
}

/** The same as in an evaluation. */
function lengthOf(target: string, tokenizer: Tokenizer, { eosTokenIds }: ModelConfig): number {
  const targetIds = [...tokenizer.encodeText(target), endToken(tokenizer, eosTokenIds)];
  return completionLength([{ targetIds }], { max_completion_length: null }, { maxCompletionLength: null });
}
