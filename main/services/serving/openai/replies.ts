/** Answers of a kept model in OpenAI's form: whole, and as the chunks of a stream. */
import type { ToolCall } from '../../../samples/chat-message.ts';
import type { AnswerToken } from '../../../trainer/protocol/answers.ts';
import type { AnswerPart } from '../kept-model.ts';

export interface ReplyHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface ReplyUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** One completion, or what has come of it. */
export interface Choice {
  readonly index: number;
  readonly text: string;
  readonly tokens: readonly AnswerToken[];
  /** Null: it hasn't ended. */
  readonly end: Extract<AnswerPart, { kind: 'ended' }> | null;
}

export type ReplyKind = 'chat' | 'text';

const encoder = new TextEncoder();

function usageOf({ promptTokens, completionTokens }: ReplyUsage): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** A whole answer. `logprobs`: whether they were asked for. */
export function wholeReply(
  kind: ReplyKind,
  head: ReplyHead,
  choices: readonly Choice[],
  usage: ReplyUsage,
  logprobs: boolean,
): object {
  return {
    ...headOf(kind === 'chat' ? 'chat.completion' : 'text_completion', head),
    choices: choices.map((choice) => {
      const { index, text, end } = choice;
      const rest = { logprobs: logprobs ? logprobsOf(kind, choice.tokens, 0) : null, finish_reason: finishOf(end) };
      if (kind === 'text') return { index, text, ...rest };
      const calls = end?.calls;
      const content = calls !== undefined && text === '' ? null : text;
      const called = calls !== undefined && { tool_calls: calls.map((call, i) => callOf(call, head, index, i)) };
      return { index, message: { role: 'assistant', content, refusal: null, ...called }, ...rest };
    }),
    usage: usageOf(usage),
  };
}

/** A chunk of a stream: what is new of one completion. `offset`: characters that its tokens before began. */
export function chunkOf(
  kind: ReplyKind,
  head: ReplyHead,
  choice: Choice,
  { offset, isFirst, logprobs }: { readonly offset: number; readonly isFirst: boolean; readonly logprobs: boolean },
): object {
  const { index, text, tokens, end } = choice;
  const rest = {
    logprobs: logprobs && tokens.length > 0 ? logprobsOf(kind, tokens, offset) : null,
    finish_reason: finishOf(end),
  };
  const object = kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  if (kind === 'text') return { ...headOf(object, head), choices: [{ index, text, ...rest }] };
  const calls = end?.calls?.map((call, i) => ({ index: i, ...callOf(call, head, index, i) }));
  const delta = {
    ...(isFirst && { role: 'assistant' }),
    ...((isFirst || text !== '') && { content: text }),
    ...(calls !== undefined && { tool_calls: calls }),
  };
  return { ...headOf(object, head), choices: [{ index, delta, ...rest }] };
}

/** The last chunk of a stream, where the numbers of tokens are asked for. */
export function usageChunk(kind: ReplyKind, head: ReplyHead, usage: ReplyUsage): object {
  const object = kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  return { ...headOf(object, head), choices: [], usage: usageOf(usage) };
}

function headOf(object: string, { id, created, model }: ReplyHead): object {
  return { id, object, created, model };
}

function finishOf(end: Choice['end']): string | null {
  if (end === null) return null;
  return end.calls === undefined ? end.finish : 'tool_calls';
}

function callOf(
  { function: { name, arguments: given } }: ToolCall,
  { id }: ReplyHead,
  choice: number,
  at: number,
): object {
  return {
    id: `call_${id.slice(-24)}_${choice}_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  };
}

function logprobsOf(kind: ReplyKind, tokens: readonly AnswerToken[], offset: number): object {
  if (kind === 'chat') return { content: tokens.map(chatToken), refusal: null };
  let at = offset;
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ logprob, text, top }) =>
      logprob === null ? null : byText([...top, { text, logprob }]),
    ),
    text_offset: tokens.map((token) => {
      // The rest of a character is where it began.
      const start = isRest(bytesOf(token)[0] ?? 0) ? Math.max(0, at - 1) : at;
      at += charactersBegun(token);
      return start;
    }),
  };
}

/** Characters that a token begins, in code points, as Python's clients count them. */
export function charactersBegun(token: Pick<AnswerToken, 'text' | 'bytes'>): number {
  return bytesOf(token).filter((byte) => !isRest(byte)).length;
}

function bytesOf({ text, bytes }: Pick<AnswerToken, 'text' | 'bytes'>): readonly number[] {
  return bytes ?? [...encoder.encode(text)];
}

/** Whether a byte of UTF-8 continues a character. */
function isRest(byte: number): boolean {
  return byte >> 6 === 0b10;
}

/** By text; of two tokens that read the same the likelier. */
function byText(all: readonly { readonly text: string; readonly logprob: number }[]): Record<string, number> {
  const found = new Map<string, number>();
  for (const { text, logprob } of all) found.set(text, Math.max(logprob, found.get(text) ?? -Infinity));
  return Object.fromEntries(found);
}

function chatToken(token: AnswerToken): object {
  const one = (each: Pick<AnswerToken, 'text' | 'bytes' | 'logprob'>) => ({
    token: each.text,
    logprob: each.logprob,
    bytes: bytesOf(each),
  });
  return { ...one(token), top_logprobs: token.top.map(one) };
}
