/** The text of a turn as it grows, sent to whoever watches. */
import type { Tokenizer } from '../../model/tokenizer.ts';
import type { JobIo } from './job-io.ts';

/** Interval between updates: faster than one reads, slower than tokens arrive. */
const INTERVAL_MS = 30;

export interface ShownText {
  /** Each decoding step. The first of a turn reads the prompt: at first, and again after memory ran out. */
  onToken(done: number): void;
  /** The model's next token; end tokens are counted and not shown. */
  onRow(row: number, id: number): void;
  /** Returns the tokens of all turns so far. */
  endTurn(): number;
}

export function openShownText(
  io: Pick<JobIo, 'text' | 'alive'>,
  { decode }: Pick<Tokenizer, 'decode'>,
  eosTokenIds: readonly number[],
): ShownText {
  const ends = new Set(eosTokenIds);
  let [ids, ofTurn, ofTurnsBefore, sentAt]: [number[], number, number, number] = [[], 0, 0, 0];
  const beginTurn = (): void => {
    [ids, ofTurn] = [[], 0];
  };
  return {
    onToken: (done) => {
      if (done === 0) beginTurn();
      io.alive();
    },
    onRow: (_row, id) => {
      ofTurn++;
      if (!ends.has(id)) ids.push(id);
      if (performance.now() - sentAt < INTERVAL_MS) return;
      sentAt = performance.now();
      io.text(decode(ids), ofTurnsBefore + ofTurn);
    },
    endTurn: () => {
      ofTurnsBefore += ofTurn;
      beginTurn();
      return ofTurnsBefore;
    },
  };
}
