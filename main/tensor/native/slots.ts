/**
 * Which place of a generation's cache belongs to which row. Places form a grid, as many for every prompt, so that a
 * batched product reads each prompt once; rows that have ended leave gaps until a whole column of the grid is free. Pure.
 */
import type { RowPrefix } from '../ops/kv-cache.ts';

export interface Slots {
  readonly prompts: readonly RowPrefix[];
  readonly perPrompt: number;
  /** The row in each place, -1 where there is none. [P*S] */
  readonly rowOfSlot: readonly number[];
  /** The place of each row. [B] */
  readonly slotOfRow: readonly number[];
  /** Whether places and rows are the same. */
  readonly dense: boolean;
  /** Tokens of the longest prompt at the start: the keys of shorter ones are padded to it. */
  readonly longest: number;
  /** 0 over a prompt's tokens, very negative over its padding [P, L]; null where none is padded. */
  readonly mask: Float32Array | null;
  /** The slots of the current rows that are kept, and which places move where; null: all stay. */
  keep(rows: readonly number[]): { readonly slots: Slots; readonly taken: TakenSlots | null };
}

/** For each place of the smaller grid the old place, and the same for prompts. */
export interface TakenSlots {
  readonly prompts: readonly number[];
  readonly slots: readonly number[];
}

const HIDDEN = -1e30;

/** The places of rows in order; rows of the same prompt stand one after the other. */
export function slotsOf(rows: readonly RowPrefix[]): Slots {
  const prompts: RowPrefix[] = [];
  const promptOfRow = rows.map((row) => {
    const last = prompts.at(-1);
    if (last === undefined || last.start !== row.start || last.length !== row.length) prompts.push(row);
    return prompts.length - 1;
  });
  const longest = prompts.reduce((most, { length }) => Math.max(most, length), 0);
  return grid(prompts, promptOfRow, longest);
}

function grid(prompts: readonly RowPrefix[], promptOfRow: readonly number[], longest: number): Slots {
  const used = prompts.map(() => 0);
  const column = promptOfRow.map((prompt) => {
    used[prompt] = (used[prompt] ?? 0) + 1;
    return (used[prompt] ?? 1) - 1;
  });
  const perPrompt = used.reduce((a, b) => Math.max(a, b), 0);
  return fill(
    prompts,
    perPrompt,
    promptOfRow.map((prompt, row) => prompt * perPrompt + (column[row] ?? 0)),
    longest,
  );
}

function fill(prompts: readonly RowPrefix[], perPrompt: number, slotOfRow: readonly number[], longest: number): Slots {
  const rowOfSlot = new Array<number>(prompts.length * perPrompt).fill(-1);
  slotOfRow.forEach((slot, row) => {
    rowOfSlot[slot] = row;
  });
  return {
    prompts,
    perPrompt,
    rowOfSlot,
    slotOfRow,
    dense: rowOfSlot.every((row, slot) => row === slot),
    longest,
    mask: prompts.every(({ length }) => length === longest) ? null : maskOf(prompts, longest),
    keep: (rows) => keepRows({ prompts, perPrompt, slotOfRow, longest }, rows),
  };
}

function maskOf(prompts: readonly RowPrefix[], longest: number): Float32Array {
  const mask = new Float32Array(prompts.length * longest).fill(HIDDEN);
  prompts.forEach(({ length }, p) => {
    mask.fill(0, p * longest, p * longest + length);
  });
  return mask;
}

function keepRows(
  { prompts, perPrompt, slotOfRow, longest }: Pick<Slots, 'prompts' | 'perPrompt' | 'slotOfRow' | 'longest'>,
  rows: readonly number[],
): { readonly slots: Slots; readonly taken: TakenSlots | null } {
  const left = rows.map((row) => slotOfRow[row] ?? 0);
  const promptOfSlot = left.map((slot) => Math.floor(slot / perPrompt));
  const alive = [...new Set(promptOfSlot)];
  const counts = alive.map((prompt) => promptOfSlot.filter((other) => other === prompt).length);
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (most === perPrompt && alive.length === prompts.length)
    return { slots: fill(prompts, perPrompt, left, longest), taken: null };
  const next = grid(
    alive.map((prompt) => prompts[prompt] as RowPrefix),
    promptOfSlot.map((prompt) => alive.indexOf(prompt)),
    longest,
  );
  // A gap may hold anything: nobody reads it.
  const slots = next.rowOfSlot.map((row) => left[Math.max(row, 0)] ?? 0);
  return { slots: next, taken: { prompts: alive, slots } };
}
