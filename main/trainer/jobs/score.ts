/** Job: log-probabilities of given completions, at temperature 1. */
import { inputError } from '../../errors.ts';
import { append } from '../../lists.ts';
import { contextLength, readModelConfig } from '../../model/config.ts';
import { lastTurnOf } from '../../model/conversation-tokens.ts';
import { type ScoreItem, scoreCompletions } from '../../model/score.ts';
import { endTokens, loadTokenizer } from '../../model/tokenizer.ts';
import type { ChatMessage, ChatTool } from '../../samples/chat-message.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { endToken } from '../batching/prompts.ts';
import { openPolicy } from '../memory/open-policy.ts';
import { forwardBytes, forwardTokens } from '../memory/plan.ts';
import { withinMemory } from '../memory/within-memory.ts';
import { checkParts, type ModelParts } from '../policy/model-parts.ts';
import type { JobIo } from './job-io.ts';

/** What is scored: a completion of a prompt, as texts or token ids, or the last turn of a conversation. */
export type Scored =
  | { readonly prompt: string | readonly number[]; readonly completion: string | readonly number[] }
  | { readonly messages: readonly ChatMessage[]; readonly tools?: readonly ChatTool[] };

/** One line of the input. */
export type ScoreLine = Scored & {
  readonly id: string;
  /** Line number in its file, from 1. */
  readonly line: number;
};

export interface ScoreJob extends BackendChoice {
  readonly kind: 'score';
  readonly model: ModelParts;
  /** The lines' file, for error messages. */
  readonly file: string;
  readonly lines: readonly ScoreLine[];
}

/** A scored completion; field names as in `--json`. */
export interface ScoredCompletion {
  readonly id: string;
  readonly token_ids: readonly number[];
  /** In nats, one per token. */
  readonly logprobs: readonly number[];
}

export interface ScoreResult {
  readonly items: readonly ScoredCompletion[];
}

/** Items scored between progress reports. */
const CHUNK = 64;
const MAX_SHOWN = 20;
/** Packed tokens of a pass: more are not faster. */
const MAX_TOKENS = 2048;

/** Scores every line; an invalid line throws before the first is scored. */
export async function runScoreJob(job: ScoreJob, io: JobIo): Promise<ScoreResult> {
  checkParts(job.model);
  const items = encodeLines(job);
  checkLines(job, items);
  const longest = items.reduce((most, item) => Math.max(most, lengthOf(item)), 0);
  const { policy, activationMb, dispose } = openPolicy(job.model, longest);
  const logprobs: Float32Array[] = [];
  try {
    for (let first = 0; first < items.length; first += CHUNK) {
      const chunk = items.slice(first, first + CHUNK);
      const { config } = policy.model;
      const scored = withinMemory(
        policy.model,
        activationMb,
        (megabytes) =>
          scoreCompletions(policy.model, policy.adapter, chunk, {
            maxTokens: Math.min(MAX_TOKENS, forwardTokens(config, megabytes * 2 ** 20)),
            onBatch: io.alive,
          }),
        () => forwardBytes(config, MAX_TOKENS) / 2 ** 20,
      );
      append(logprobs, scored);
      await io.progress(logprobs.length, items.length, 'completions');
    }
  } finally {
    dispose();
  }
  return {
    items: job.lines.map(({ id }, i) => ({
      id,
      token_ids: items[i]?.completionIds ?? [],
      logprobs: Array.from(logprobs[i] ?? []),
    })),
  };
}

/**
 * A prompt gets the special tokens that the tokenizer itself adds and no chat template; a completion gets neither. A
 * conversation is what the chat template makes of it, to the end of its last turn.
 */
function encodeLines({ lines, model }: ScoreJob): ScoreItem[] {
  const needed = lines.some((line) => 'messages' in line || typeof line.prompt === 'string');
  const tokenizer = needed ? loadTokenizer(model.tokenizer) : null;
  const ids = (value: string | readonly number[], special: boolean): readonly number[] =>
    typeof value === 'string' ? (tokenizer?.encode(value, special) ?? []) : value;
  const end = tokenizer && endTokens(tokenizer, readModelConfig(model.base).eosTokenIds);
  return lines.map((line) => {
    if (!('messages' in line)) return { promptIds: ids(line.prompt, true), completionIds: ids(line.completion, false) };
    if (tokenizer === null || end === null) return { promptIds: [], completionIds: [] };
    return lastTurnOf(tokenizer, line.messages, line.tools, [endToken(tokenizer, end), ...end]);
  });
}

function checkLines({ file, lines, model }: ScoreJob, items: readonly ScoreItem[]): void {
  const config = readModelConfig(model.base);
  const faults = items.flatMap((item, i) => {
    const reason = faultOf(item, config.vocabSize, contextLength(config));
    return reason === null ? [] : [`${file}, line ${lines[i]?.line}: ${reason}`];
  });
  if (faults.length === 0) return;
  const rest = faults.length > MAX_SHOWN ? [`and ${faults.length - MAX_SHOWN} more`] : [];
  throw inputError('BAD_COMPLETIONS', [...faults.slice(0, MAX_SHOWN), ...rest].join('\n'), 'Fix these lines.');
}

function faultOf(item: ScoreItem, vocabSize: number, longest: number): string | null {
  if (item.promptIds.length === 0) return 'expected a prompt of at least one token, got none';
  if (lengthOf(item) > longest)
    return `expected at most ${longest} tokens (the model's context), got ${lengthOf(item)}`;
  const foreign = [...item.promptIds, ...item.completionIds].find((id) => id >= vocabSize);
  return foreign === undefined ? null : `expected token ids from 0 to ${vocabSize - 1}, got ${foreign}`;
}

function lengthOf({ promptIds, completionIds }: ScoreItem): number {
  return promptIds.length + completionIds.length;
}
