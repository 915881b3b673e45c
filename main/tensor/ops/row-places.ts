/** Which rows a decoding step reads tokens of, and where each goes: a row continues from where it left off. */

/** A token of a row, which is named by its place among those that decoding was opened on. */
export interface RowToken {
  readonly row: number;
  readonly id: number;
  /** How many tokens of its row stand before it in the same step. */
  readonly ahead: number;
}

export interface RowPlaces {
  /** Of each current row, its place among those that decoding was opened on. */
  readonly slots: readonly number[];
  /** Of each current row, the position of its next token. */
  positions(): number[];
  /** Tokens that the current row has written. */
  writtenOf(row: number): number;
  /** Keeps only these of the current rows; a copy of one writes what it does. */
  keep(rows: readonly number[]): void;
  /** The rows of the next step, which may be any. */
  choose(tokens: readonly RowToken[]): void;
  /** Moves past the tokens of a step, or past `count` more. */
  advance(count?: number): void;
}

/** `rows`: lengths of what was read before decoding. */
export function openRowPlaces(rows: readonly { readonly length: number }[]): RowPlaces {
  const written = rows.map(() => 0);
  let slots = [...rows.keys()];
  let ahead: readonly number[] = [];
  const places = (): number[] => slots.map((slot, row) => (written[slot] ?? 0) + (ahead[row] ?? 0));
  return {
    get slots() {
      return slots;
    },
    positions: () => places().map((place, row) => place + (rows[slots[row] ?? 0]?.length ?? 0)),
    writtenOf: (row) => written[slots[row] ?? 0] ?? 0,
    keep: (kept) => {
      slots = kept.map((row) => slots[row] ?? 0);
      ahead = [];
    },
    choose: (tokens) => {
      slots = tokens.map(({ row }) => row);
      ahead = tokens.map((token) => token.ahead);
    },
    advance: (count = 1) => {
      places().forEach((place, row) => {
        const slot = slots[row] ?? 0;
        written[slot] = Math.max(written[slot] ?? 0, place + count);
      });
      ahead = [];
    },
  };
}
