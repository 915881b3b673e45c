/** What a process that keeps a model is asked, and what it answers: each request has a number of the host's. */
import type { SamplingOptions } from '../../model/sampler.ts';
import type { Spelling } from '../../model/token-bytes.ts';
import type { ChatMessage, ChatTool, ToolCall } from '../../samples/chat-message.ts';
import type { Failure } from './failure.ts';

/** A conversation in the model's own form, a text as it is, or tokens. */
export type AnswerPrompt =
  | {
      readonly kind: 'messages';
      readonly messages: readonly ChatMessage[];
      /** Functions that the model may call, as JSON schemas, for its chat template. */
      readonly tools?: readonly ChatTool[];
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ids'; readonly ids: readonly number[] };

export interface AnswerRequest extends SamplingOptions {
  readonly prompt: AnswerPrompt;
  /** Independent completions. */
  readonly n: number;
  /** Of each completion; null: as many as the model's context has room for. */
  readonly maxTokens: number | null;
  /** The same seed gives the same answer, whatever else is asked at the time. */
  readonly seed: number;
  /** A completion ends before the first of these. */
  readonly stop: readonly string[];
  /** How many alternatives of each token are reported, with its log-probability; null: neither. */
  readonly logprobs: number | null;
  /** Whether the prompt's own tokens are reported too. */
  readonly echo?: boolean;
  /** What is added to the logits of a token, by id. */
  readonly bias?: readonly (readonly [id: number, more: number])[];
}

export interface AnswerAlternative extends Spelling {
  readonly id: number;
  /** Before temperature and filters. */
  readonly logprob: number;
}

export interface AnswerToken extends Omit<AnswerAlternative, 'logprob'> {
  /** Null: not asked for, or the first of a prompt. */
  readonly logprob: number | null;
  readonly top: readonly AnswerAlternative[];
}

export type AnswerEvent =
  /** The prompt has been read. `prompt`: its text and tokens, if they are to be reported. */
  | {
      readonly kind: 'begun';
      readonly promptTokens: number;
      readonly prompt?: { readonly text: string; readonly tokens: readonly AnswerToken[] };
    }
  /** More of a completion: text that can be shown, and the tokens that it is of, an end token among them. */
  | { readonly kind: 'delta'; readonly choice: number; readonly text: string; readonly tokens: readonly AnswerToken[] }
  /** `length`: it was cut off. `tokens`: all that were computed. `calls`: of the tools in the prompt; not in the text. */
  | {
      readonly kind: 'ended';
      readonly choice: number;
      readonly finish: 'stop' | 'length';
      readonly tokens: number;
      readonly calls?: readonly ToolCall[];
    }
  /** The last event of a request: all its completions have ended. */
  | { readonly kind: 'done' }
  /** Instead of `done`. */
  | ({ readonly kind: 'failed' } & Failure);

/** What the host sends to such a process after its job. */
export type AnswerCommand =
  | { readonly kind: 'ask'; readonly id: number; readonly request: AnswerRequest }
  | { readonly kind: 'cancel'; readonly id: number };
