/** Held-out pairs before and after training, word by word, as a terminal shows them. */
import { alignCompletion } from '../text/word-alignment.ts';

export interface AnsweredPair {
  readonly target: string;
  readonly before: string;
  readonly after: string;
}

/** A word with its marks, and how wide it is without the codes for colour. */
interface ShownWord {
  readonly text: string;
  readonly width: number;
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
  const paint = (codes: string, text: string): string => (colour ? `\x1b[${codes}m${text}\x1b[0m` : text);
  const legend = colour
    ? `${paint(COLOURS.a, 'first text')}, ${paint(COLOURS.b, 'second text')}, ${paint(COLOURS.wrong, 'wrong')}, ${paint(COLOURS.missing, '(missing)')}`
    : '[wrong], (missing)';
  const lines = [`The first ${pairs.length} held-out pairs, word by word: ${legend}`];
  for (const { target, before, after } of pairs) {
    lines.push('');
    for (const [name, completion] of [
      ['before', before],
      ['after', after],
    ] as const) {
      const { words, score } = alignCompletion(target, completion);
      const shown = words.flatMap(({ kind, expected, got, strand }): ShownWord[] => {
        const missing = `(${expected})`;
        if (kind === 'missing') return [{ text: paint(COLOURS.missing, missing), width: missing.length }];
        const word = kind === 'match' || colour ? `${got}` : `[${got}]`;
        return [{ text: paint(kind === 'match' ? COLOURS[strand ?? 'a'] : COLOURS.wrong, word), width: word.length }];
      });
      lines.push(...wrapped(`${name.padEnd(8)}${score.toFixed(2)}  `, shown, columns));
    }
  }
  return lines;
}

/** Words in lines of at most `columns`, the first behind the label, the others below its end. */
function wrapped(label: string, words: readonly ShownWord[], columns: number): string[] {
  const lines: string[] = [];
  let line = label.padEnd(LABEL);
  let width = LABEL;
  for (const word of words) {
    if (width > LABEL && width + word.width > columns) {
      lines.push(line.trimEnd());
      [line, width] = [' '.repeat(LABEL), LABEL];
    }
    line += `${word.text} `;
    width += word.width + 1;
  }
  return [...lines, line.trimEnd()];
}
