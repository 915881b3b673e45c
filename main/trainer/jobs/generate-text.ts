/** Job: one model completes one prompt, streaming its text. */
import { inputError } from '../../errors.ts';
import { encodePrompt, endTokens, loadTokenizer } from '../../model/tokenizer.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { checkTokens, completionLength, endToken } from '../batching/prompts.ts';
import { generateWithin } from '../memory/generate-within.ts';
import { openPolicy } from '../memory/open-policy.ts';
import { checkParts, endTokensOf, type ModelParts, vocabularyOf } from '../policy/model-parts.ts';
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
  checkParts(parts);
  const tokenizer = loadTokenizer(parts.tokenizer, parts.chat);
  const promptIds = encodePrompt(tokenizer, job.prompt, job.quoted);
  checkTokens(promptIds, tokenizer, vocabularyOf(parts), 'the prompt');
  const maxNewTokens = job.maxNewTokens ?? lengthOf(job, tokenizer);
  if (promptIds.length === 0) throw inputError('EMPTY_PROMPT', 'Expected a prompt of at least one token, got none');
  const { policy, activationMb, dispose } = openPolicy(parts, promptIds.length + maxNewTokens, job.beside);
  try {
    const eosTokenIds = endTokens(tokenizer, policy.model.config.eosTokenIds);
    const { beginTurn, onRow } = openShownText(io, tokenizer, eosTokenIds);
    const onToken = (done: number): void => {
      // The prompt is read: at first, and again if memory ran out.
      if (done === 0) beginTurn();
      io.alive();
    };
    const began = performance.now();
    const sampling = { temperature, topK: 0, topP: 1, minP: null, repetitionPenalty: 1, coordinates: [seed] };
    const [completion] = generateWithin(policy, [promptIds], activationMb, {
      ...{ numGenerations: 1, maxNewTokens, eosTokenIds, onRow, onToken },
      ...sampling,
    });
    const { ids: all = [], terminated = false } = completion ?? {};
    const seconds = (performance.now() - began) / 1000;
    return { text: tokenizer.decode(all), tokens: all.length, promptTokens: promptIds.length, terminated, seconds };
  } finally {
    dispose();
  }
}

/** The same as in an evaluation. */
function lengthOf({ target, model }: GenerateJob, tokenizer: ReturnType<typeof loadTokenizer>): number {
  const targetIds = [...tokenizer.encodeText(target), endToken(tokenizer, endTokensOf(model))];
  const record = { record: { id: 'prompt', prompt: '' }, promptIds: [], targetIds };
  return completionLength([record], { max_completion_length: null }, { maxCompletionLength: null });
}
