/** Job: one model answers one prompt, and its text is told while it grows. */
import { inputError } from '../errors.ts';
import { generate } from '../model/generate.ts';
import { encodePrompt, loadTokenizer } from '../model/tokenizer.ts';
import type { BackendChoice } from './backend.ts';
import type { JobIo } from './job-io.ts';
import { endTokensOf, type ModelParts, openPolicy } from './open-policy.ts';
import { completionLength, endToken } from './prompts.ts';

export interface GenerateJob extends BackendChoice {
  readonly kind: 'generate';
  readonly model: ModelParts;
  readonly prompt: string;
  /** The perfect answer: decides the length where none is given. */
  readonly target: string;
  /** In tokens; null: the target's, and a margin. */
  readonly maxNewTokens: number | null;
  /** 0: always the likeliest token. */
  readonly temperature: number;
  readonly seed: number;
}

export interface GenerateResult {
  readonly text: string;
  /** Tokens, its end included. */
  readonly tokens: number;
  readonly promptTokens: number;
  /** False when it ran into its length. */
  readonly terminated: boolean;
  /** Of generation alone. */
  readonly seconds: number;
}

/** Between two looks at the text: faster than one reads, slower than tokens come. */
const TELL_MS = 30;

/** Answers the prompt. */
export async function runGenerateJob(job: GenerateJob, io: JobIo): Promise<GenerateResult> {
  const { temperature, seed, model: parts } = job;
  const tokenizer = loadTokenizer(parts.tokenizer);
  const promptIds = encodePrompt(tokenizer, job.prompt);
  const maxNewTokens = job.maxNewTokens ?? lengthOf(job, tokenizer);
  if (promptIds.length === 0) throw inputError('EMPTY_PROMPT', 'Expected a prompt of at least one token, got none');
  const { policy, dispose } = openPolicy(parts, promptIds.length + maxNewTokens);
  try {
    const { eosTokenIds } = policy.model.config;
    const ends = new Set(eosTokenIds);
    const ids: number[] = [];
    let told = 0;
    const onRow = (_row: number, id: number): void => {
      if (!ends.has(id)) ids.push(id);
      if (performance.now() - told < TELL_MS) return;
      told = performance.now();
      io.text(tokenizer.decode(ids), ids.length);
    };
    const began = performance.now();
    const sampling = { temperature, topK: 0, topP: 1, minP: null, repetitionPenalty: 1, coordinates: [seed] };
    const [completion] = generate(policy.model, policy.adapter, [promptIds], {
      ...{ numGenerations: 1, maxNewTokens, eosTokenIds, onRow },
      ...sampling,
    });
    const { ids: all = [], terminated = false } = completion ?? {};
    const seconds = (performance.now() - began) / 1000;
    return { text: tokenizer.decode(all), tokens: all.length, promptTokens: promptIds.length, terminated, seconds };
  } finally {
    dispose();
  }
}

/** As an evaluation would compute it. */
function lengthOf({ target, model }: GenerateJob, tokenizer: ReturnType<typeof loadTokenizer>): number {
  const targetIds = [...tokenizer.encode(target), endToken(tokenizer, endTokensOf(model))];
  const record = { record: { id: 'prompt', prompt: '' }, promptIds: [], targetIds };
  return completionLength([record], { max_completion_length: null });
}
