/**
 * Texts of a template that remember which of their characters somebody wrote: the words of a message keep their source
 * through every operation, so that the tokenizer knows a template's own control tokens from quoted ones.
 */

/** A text with words of a message in it. */
class Quoted {
  readonly text: string;
  /** Where they are: start, end, source, start, end, source … in order. */
  readonly spans: readonly number[];

  constructor(text: string, spans: readonly number[]) {
    this.text = text;
    this.spans = spans;
  }
}

export type Str = string | Quoted;

export function isStr(value: unknown): value is Str {
  return typeof value === 'string' || value instanceof Quoted;
}

/** The characters alone. */
export function plain(text: Str): string {
  return typeof text === 'string' ? text : text.text;
}

/** A text with these spans; without any it is a plain one. */
export function withSpans(text: string, spans: readonly number[]): Str {
  return spans.length === 0 ? text : new Quoted(text, spans);
}

/** A text all of whose characters somebody wrote. */
export function quote(text: string, source: number): Str {
  return text === '' ? '' : new Quoted(text, [0, text.length, source]);
}

/** Part of a text, by UTF-16 offsets. */
export function slice(text: Str, start: number, end: number = plain(text).length): Str {
  if (typeof text === 'string') return text.slice(start, end);
  const spans: number[] = [];
  for (let i = 3 * firstAfter(text.spans, start); (text.spans[i] ?? end) < end; i += 3) {
    const from = Math.max(text.spans[i] ?? 0, start);
    const to = Math.min(text.spans[i + 1] ?? 0, end);
    if (from < to) spans.push(from - start, to - start, text.spans[i + 2] ?? 0);
  }
  return withSpans(text.text.slice(start, end), spans);
}

/** The first span that ends after an offset; by bisection, as a long text may be cut into as many parts as it has spans. */
function firstAfter(spans: readonly number[], offset: number): number {
  let [low, high] = [0, spans.length / 3];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[3 * middle + 1] ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function concat(parts: readonly Str[]): Str {
  if (parts.every((part) => typeof part === 'string')) return parts.join('');
  const spans: number[] = [];
  let at = 0;
  for (const part of parts) {
    if (typeof part !== 'string')
      for (let i = 0; i < part.spans.length; i += 3) {
        const [start = 0, end = 0, source = 0] = part.spans.slice(i, i + 3);
        // Neighbours of one source are one span.
        if (spans.at(-1) === source && spans.at(-2) === at + start) spans[spans.length - 2] = at + end;
        else spans.push(at + start, at + end, source);
      }
    at += plain(part).length;
  }
  return withSpans(parts.map(plain).join(''), spans);
}

/** `change` applied to the text, where it changes characters without moving them from one part to another. */
export function mapText(text: Str, change: (characters: string) => string): Str {
  if (typeof text === 'string') return change(text);
  const whole = change(text.text);
  if (whole.length === text.text.length) return new Quoted(whole, text.spans);
  const parts = piecesOf(text).map((piece) =>
    typeof piece === 'string' ? change(piece) : quote(change(piece.text), piece.spans[2] ?? 0),
  );
  const joined = concat(parts);
  // Where a character depends on its neighbours, all of it counts as somebody's.
  return plain(joined) === whole ? joined : quote(whole, text.spans[2] ?? 0);
}

/** The parts of one source each. */
function piecesOf(text: Quoted): Str[] {
  const pieces: Str[] = [];
  let at = 0;
  for (let i = 0; i < text.spans.length; i += 3) {
    const [start = 0, end = 0] = text.spans.slice(i, i + 2);
    pieces.push(slice(text, at, start), slice(text, start, end));
    at = end;
  }
  return [...pieces, slice(text, at)].filter((piece) => plain(piece) !== '');
}

function isHigh(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLow(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** Offsets of the text's code points and its end; null where each is one UTF-16 unit. */
export function pointsOf(text: string): number[] | null {
  if (!/[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text)) return null;
  const offsets: number[] = [];
  let at = 0;
  for (const point of text) {
    offsets.push(at);
    at += point.length;
  }
  offsets.push(at);
  return offsets;
}

/** Python's length: code points. */
export function lengthOf(text: Str): number {
  const whole = plain(text);
  let pairs = 0;
  for (let i = 1; i < whole.length; i++) if (isLow(whole, i) && isHigh(whole, i - 1)) pairs += 1;
  return whole.length - pairs;
}

/** The characters, each a text. */
export function charactersOf(text: Str): Str[] {
  const points = pointsOf(plain(text));
  const length = lengthOf(text);
  return Array.from({ length }, (_, i) => slice(text, points?.[i] ?? i, points?.[i + 1] ?? i + 1));
}
