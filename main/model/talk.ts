/** A completion of several turns while it is generated: what was said, whose turn it is, and what is kept of it. */
import { append } from '../lists.ts';
import type { Completion } from '../samples/completion.ts';
import type { ChosenRow } from './choose-next.ts';
import type { GenerateOptions } from './generate.ts';
import type { EndedTurn, TurnAnswer, TurnTaking } from './turns.ts';

export interface Talk extends ChosenRow {
  /** prompt * G + generation. */
  readonly completion: number;
  readonly ids: number[];
  /** 1 for each token of the model's. */
  readonly mask: number[];
  /** Which turn it is, from 0 (-1: whoever answers begins), where it began, and when. */
  turn: number;
  first: number;
  began: number;
  /** Tokens that aren't in the cache yet: the newest of its own, and what answered it. */
  unread: number[];
  state: 'ready' | 'waiting' | 'done';
  /** How its newest turn ended; null: it hasn't. */
  end: 'token' | 'string' | 'length' | null;
  /** Whether an answer had no room. */
  truncated: boolean;
}

type TalkOptions = Pick<GenerateOptions, 'maxNewTokens' | 'eosTokenIds' | 'stops' | 'numGenerations'>;

/** G completions of every prompt, ready to begin. */
export function openTalks(
  prompts: readonly (readonly number[])[],
  { numGenerations }: TalkOptions,
  { opens = false }: Pick<TurnTaking, 'opens'>,
): readonly Talk[] {
  const began = performance.now();
  return prompts.flatMap((promptIds, prompt) =>
    Array.from({ length: numGenerations }, (_, generation): Talk => {
      const place = { prompt, generation, promptIds, completion: prompt * numGenerations + generation };
      const turn = opens ? -1 : 0;
      const nothing = { ids: [], mask: [], unread: [], turn, first: 0, end: null, truncated: false };
      return { ...place, ...nothing, began, state: 'ready' };
    }),
  );
}

/** Adds a token of the model's, which may end its turn. */
export function say(
  talk: Talk,
  id: number,
  { maxNewTokens, eosTokenIds, stops }: TalkOptions,
  { maxTurnTokens }: Pick<TurnTaking, 'maxTurnTokens'>,
): void {
  const { ids, mask, promptIds, first } = talk;
  ids.push(id);
  mask.push(1);
  talk.unread.push(id);
  if (eosTokenIds.includes(id)) talk.end = 'token';
  else if (stops?.(promptIds, ids)) talk.end = 'string';
  else if (ids.length === maxNewTokens || ids.length - first === maxTurnTokens) talk.end = 'length';
}

/** What whoever answers is asked. */
export function endedTurn({ completion, turn, ids, first, end }: Talk, { maxNewTokens }: TalkOptions): EndedTurn {
  return {
    completion,
    turn,
    ids: ids.slice(first),
    terminated: end !== 'length',
    byString: end === 'string',
    room: maxNewTokens - ids.length,
  };
}

/** Takes an answer: the next turn is ready to begin, or the completion is done. */
export function hear(talk: Talk, answer: TurnAnswer, { maxNewTokens }: TalkOptions): void {
  const { ids, mask, unread } = talk;
  talk.truncated = answer !== null && ids.length + answer.length >= maxNewTokens;
  if (answer === null || talk.truncated) {
    talk.state = 'done';
    return;
  }
  append(ids, answer);
  append(
    mask,
    answer.map(() => 0),
  );
  append(unread, answer);
  talk.turn++;
  talk.first = ids.length;
  talk.began = performance.now();
  talk.end = null;
  talk.state = 'ready';
}

/** One whose last turn reached the limit of a turn alone has ended: the conversation was over. */
export function completionOf(
  { ids, mask, end, truncated }: Talk,
  { maxNewTokens }: Pick<TalkOptions, 'maxNewTokens'>,
): Completion {
  const isWhole = end === 'token' || end === 'string' || (end === 'length' && ids.length < maxNewTokens);
  return { ids, terminated: isWhole && !truncated, toolMask: mask };
}
