/** Text laid out for a terminal by the columns that it takes there: East Asian characters and emoji take two. */
import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The columns that a text takes, codes for colour left out. */
export function columnsOf(text: string): number {
  return stringWidth(text);
}

/** The text with spaces up to so many columns, after it or before it. */
export function padded(text: string, columns: number, side: 'end' | 'start' = 'end'): string {
  const spaces = ' '.repeat(Math.max(0, columns - columnsOf(text)));
  return side === 'end' ? text + spaces : spaces + text;
}

/** One line of at most so many columns; one that is cut ends with an ellipsis. */
export function clipped(line: string, columns: number): string {
  if (columnsOf(line) <= columns) return line;
  const [start = ''] = pieces(line, columns - 1);
  return `${start}…`;
}

/** A text in pieces of at most so many columns, no character torn; a character that is wider stands alone. */
export function pieces(text: string, columns: number): string[] {
  if (columnsOf(text) <= columns) return [text];
  const cut: string[] = [];
  let piece = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    const wide = columnsOf(segment);
    if (width + wide > columns && (piece !== '' || columns < 1)) {
      cut.push(piece);
      [piece, width] = ['', 0];
    }
    piece += segment;
    width += wide;
  }
  return [...cut, piece];
}
