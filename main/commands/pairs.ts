/** Held-out pairs before and after training, word by word, as a terminal shows them. */
import { visible } from '../text/visible.ts';
import { alignCompletion } from '../text/word-alignment.ts';
import { splitWords } from '../text/words.ts';
import { columnsOf, padded, pieces } from './terminal-text.ts';

export interface AnsweredPair {
  readonly target: string;
  readonly before: string;
  readonly after: string;
}

/** A word with its marks, and the codes of its colour. */
interface ShownWord {
  readonly text: string;
  readonly codes: string | null;
}

const LABEL = 14;
const COLOURS = { a: '36', b: '33', wrong: '31', missing: '31;2' } as const;

/** Whether a stream is to be written to in colour (no-color.org). */
export function takesColour(stream: Pick<NodeJS.WriteStream, 'isTTY'>, environment = process.env): boolean {
  return stream.isTTY === true && (environment.NO_COLOR ?? '') === '';
}

/**
 * The lines of some pairs. Right words have the colour of their text, the first cyan, the second yellow; wrong and
 * superfluous ones are red, missing ones faint. Without colour wrong words stand in [brackets], missing ones in (these).
 */
export function pairLines(pairs: readonly AnsweredPair[], columns: number, colour: boolean): string[] {
  const lines = [`The first ${pairs.length} held-out pairs, word by word: ${legend(colour)}`];
  for (const { target, before, after } of pairs) {
    lines.push('');
    for (const [name, completion] of [
      ['before', before],
      ['after', after],
    ] as const) {
      lines.push(...answerLines(name.padEnd(8), { target, completion }, columns, colour));
    }
  }
  return lines;
}

/** What the marks of words mean. */
export function legend(colour: boolean): string {
  if (!colour) return '[wrong], (missing)';
  const { a, b, wrong, missing } = COLOURS;
  return `${paint(a, 'first text')}, ${paint(b, 'second text')}, ${paint(wrong, 'wrong')}, ${paint(missing, '(missing)')}`;
}

/** A completion of the interleave task against its target: the label, the share of right words, the words. */
export function answerLines(
  label: string,
  { target, completion }: { readonly target: string; readonly completion: string },
  columns: number,
  colour: boolean,
): string[] {
  const { words, score } = alignCompletion(target, completion);
  const shown = words.map(({ kind, expected, got, strand }): ShownWord => {
    const text = visible(kind === 'missing' ? `(${expected})` : kind === 'match' || colour ? `${got}` : `[${got}]`);
    const codes = kind === 'missing' ? COLOURS.missing : kind === 'match' ? COLOURS[strand ?? 'a'] : COLOURS.wrong;
    return { text, codes: colour ? codes : null };
  });
  return wrapped(`${label}${score.toFixed(2)}  `, shown, columns);
}

/** A text behind a label, without marks. */
export function textLines(label: string, text: string, columns: number): string[] {
  const words = splitWords(visible(text));
  const shown = (words.length > 0 ? words : ['(nothing)']).map((word): ShownWord => ({ text: word, codes: null }));
  return wrapped(label, shown, columns);
}

function paint(codes: string, text: string): string {
  return `\x1b[${codes}m${text}\x1b[0m`;
}

/** Words in lines of at most `columns`, the first behind the label, the others below its end; longer words are cut. */
function wrapped(label: string, words: readonly ShownWord[], columns: number): string[] {
  const lines: string[] = [];
  let line = padded(label, LABEL);
  let width = LABEL;
  for (const { text, codes } of words) {
    for (const [i, piece] of pieces(text, Math.max(1, columns - LABEL)).entries()) {
      const wide = columnsOf(piece);
      if (i > 0 || (width > LABEL && width + wide > columns)) {
        lines.push(line.trimEnd());
        [line, width] = [' '.repeat(LABEL), LABEL];
      }
      line += `${codes === null ? piece : paint(codes, piece)} `;
      width += wide + 1;
    }
  }
  return [...lines, line.trimEnd()];
}
