/** str.split and its relatives. Texts are cut, never copied, so that each part knows where it is from. */
import { PyError } from './errors.ts';
import type { Run } from './run.ts';
import { charactersOf, concat, plain, type Str, slice } from './text.ts';
import { LINE_END, SPACE } from './unicode.ts';

const WORD = new RegExp(`[^${SPACE}]+`, 'g');

/** Without a separator at white space, which is then left out; what is left after the last cut keeps its end. */
export function split(text: Str, separator: Str | null, most: number, run: Run): Str[] {
  const whole = plain(text);
  run.read(whole.length);
  const limit = most < 0 ? Number.POSITIVE_INFINITY : most;
  const parts: Str[] = [];
  if (separator === null) {
    for (const { 0: word, index } of whole.matchAll(WORD)) {
      run.items(1);
      if (parts.length === limit) return [...parts, slice(text, index)];
      parts.push(slice(text, index, index + word.length));
    }
    return parts;
  }
  let at = 0;
  for (const next of positionsOf(whole, plain(separator), run)) {
    if (parts.length === limit) break;
    run.items(1);
    parts.push(slice(text, at, next));
    at = next + plain(separator).length;
  }
  return [...parts, slice(text, at)];
}

/** From the right. */
export function rsplit(text: Str, separator: Str | null, most: number, run: Run): Str[] {
  const whole = plain(text);
  run.read(whole.length);
  if (most < 0) return split(text, separator, -1, run);
  if (separator === null) {
    const words = [...whole.matchAll(WORD)].map(({ 0: word, index }) => [index, index + word.length] as const);
    run.items(words.length);
    const kept = words.slice(Math.max(0, words.length - most)).map(([start, end]) => slice(text, start, end));
    const last = words[words.length - most - 1];
    if (last === undefined) return kept;
    return [slice(text, 0, last[1]), ...kept];
  }
  const length = plain(separator).length;
  const parts: Str[] = [];
  let end = whole.length;
  for (const start of positionsFromRight(whole, plain(separator), most, run)) {
    parts.push(slice(text, start + length, end));
    end = start;
  }
  return [...parts, slice(text, 0, end)].reverse();
}

function positionsFromRight(whole: string, separator: string, most: number, run: Run): number[] {
  if (separator === '') throw new PyError('ValueError', 'empty separator');
  const found: number[] = [];
  let at = whole.length;
  while (found.length < most) {
    const start = at < separator.length ? -1 : whole.lastIndexOf(separator, at - separator.length);
    if (start < 0) break;
    run.items(1);
    found.push(start);
    at = start;
  }
  return found;
}

/** Where a part stands, without overlaps. */
function positionsOf(whole: string, part: string, run: Run): number[] {
  if (part === '') throw new PyError('ValueError', 'empty separator');
  const found: number[] = [];
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + part.length)) {
    run.items(1);
    found.push(at);
  }
  return found;
}

export function replace(text: Str, old: Str, by: Str, most: number, run: Run): Str {
  const limit = most < 0 ? Number.POSITIVE_INFINITY : most;
  run.read(plain(text).length);
  if (plain(old) === '') {
    run.items(plain(text).length);
    const characters = charactersOf(text);
    run.size((plain(by).length + 1) * characters.length);
    const between = characters.flatMap((character, i) => (i < limit ? [by, character] : [character]));
    return concat(characters.length < limit ? [...between, by] : between);
  }
  const places = positionsOf(plain(text), plain(old), run).slice(0, Number.isFinite(limit) ? limit : undefined);
  if (places.length === 0) return text;
  run.size(places.length * (plain(by).length + 8));
  const parts: Str[] = [];
  let at = 0;
  for (const place of places) {
    parts.push(slice(text, at, place), by);
    at = place + plain(old).length;
  }
  return concat([...parts, slice(text, at)]);
}

export function splitLines(text: Str, keep: boolean, run: Run): Str[] {
  const whole = plain(text);
  run.read(whole.length);
  const lines: Str[] = [];
  let at = 0;
  for (const { 0: end, index } of whole.matchAll(LINE_END)) {
    run.items(1);
    lines.push(slice(text, at, keep ? index + end.length : index));
    at = index + end.length;
  }
  return at < whole.length ? [...lines, slice(text, at)] : lines;
}

const IS_SPACE = new RegExp(`[${SPACE}]`);

/** Without these characters at its ends; null: white space. */
export function stripped(text: Str, characters: string | null, left: boolean, right: boolean): Str {
  const whole = plain(text);
  const wanted = characters === null ? null : new Set(characters);
  const drops = (character: string): boolean => (wanted === null ? IS_SPACE.test(character) : wanted.has(character));
  let start = 0;
  let end = whole.length;
  while (left && start < end) {
    const character = String.fromCodePoint(whole.codePointAt(start) ?? 0);
    if (!drops(character)) break;
    start += character.length;
  }
  while (right && end > start) {
    const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(whole.slice(Math.max(start, end - 2), end));
    const character = whole.slice(end - (pair ? 2 : 1), end);
    if (!drops(character)) break;
    end -= character.length;
  }
  return slice(text, start, end);
}
