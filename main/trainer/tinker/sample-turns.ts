/**
 * Completions of several turns from a server that samples one turn a request: between two turns the environment answers
 * here, and what has been said so far is the next request's prompt. The server's own cache of prefixes, if it has one,
 * saves it from reading that again. G completions of each of P prompts, R = P*G.
 */

import { append } from '../../lists.ts';
import type { EndedTurn } from '../../model/turns.ts';
import type { Completion } from '../../samples/completion.ts';
import type { Sampling } from '../engine/engine.ts';

/** One request for each prompt, `limits` tokens at most. */
export type SampleTurn = (
  prompts: readonly (readonly number[])[],
  sampling: Sampling,
  limits: readonly number[],
) => Promise<readonly Completion[]>;

interface Row {
  readonly prompt: readonly number[];
  readonly ids: number[];
  readonly toolMask: number[];
  /** null: the server gives none. */
  logps: number[] | null;
  /** How its newest turn ended. */
  terminated: boolean;
  /** Whether an answer had no room. */
  truncated: boolean;
}

/** Completions in one turn, or in several where `sampling` says so. */
export async function sampleTurns(
  sample: SampleTurn,
  prompts: readonly (readonly number[])[],
  sampling: Sampling,
): Promise<readonly Completion[]> {
  const { turns, numGenerations, maxNewTokens } = sampling;
  if (turns === undefined)
    return sample(
      prompts,
      sampling,
      prompts.map(() => maxNewTokens),
    );
  const rows = prompts.flatMap((prompt) =>
    Array.from(
      { length: numGenerations },
      (): Row => ({ prompt, ids: [], toolMask: [], logps: [], terminated: false, truncated: false }),
    ),
  );
  let active = [...rows.keys()];
  for (let turn = turns.opens === true ? -1 : 0; active.length > 0; turn++) {
    const of = (i: number): Row => rows[i] as Row;
    const limit = (i: number): number => Math.min(turns.maxTurnTokens, maxNewTokens - of(i).ids.length);
    const first = Math.min(turns.maxTurnTokens, maxNewTokens);
    const said = (): Promise<readonly Completion[]> =>
      turn === 0 && turns.opens !== true
        ? sample(
            prompts,
            sampling,
            prompts.map(() => first),
          )
        : sample(
            active.map((i) => [...of(i).prompt, ...of(i).ids]),
            { ...sampling, numGenerations: 1, coordinates: [...sampling.coordinates, turn] },
            active.map(limit),
          );
    const own = turn < 0 ? [] : await said();
    if (turn >= 0) for (const [place, i] of active.entries()) addTurn(of(i), own[place]);
    const ended = active.map(
      (i, place): EndedTurn => ({
        completion: i,
        turn,
        ids: own[place]?.ids ?? [],
        terminated: of(i).terminated,
        room: maxNewTokens - of(i).ids.length,
      }),
    );
    const answers = await Promise.all(turns.answer(ended));
    active = active.filter((i, place) => addAnswer(of(i), answers[place] ?? null, maxNewTokens));
  }
  return rows.map(({ ids, toolMask, logps, terminated, truncated }) => ({
    ids,
    toolMask,
    // One whose last turn reached the limit of a turn alone has ended: the conversation was over.
    terminated: !truncated && (terminated || ids.length < maxNewTokens),
    ...(logps && { logps }),
  }));
}

function addTurn(row: Row, { ids, terminated, logps }: Completion = { ids: [], terminated: false }): void {
  append(row.ids, ids);
  append(
    row.toolMask,
    ids.map(() => 1),
  );
  row.logps = row.logps === null || logps === undefined ? null : [...row.logps, ...logps];
  row.terminated = terminated;
}

/** Whether the row has another turn. */
function addAnswer(row: Row, tokens: readonly number[] | null, maxNewTokens: number): boolean {
  if (tokens === null) return false;
  if (row.ids.length + tokens.length >= maxNewTokens) {
    row.truncated = true;
    return false;
  }
  append(row.ids, tokens);
  append(
    row.toolMask,
    tokens.map(() => 0),
  );
  // Masked: nobody sampled them.
  row.logps?.push(...tokens.map(() => 0));
  return true;
}
