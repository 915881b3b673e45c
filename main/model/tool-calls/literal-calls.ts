/**
 * Calls with arguments by name: `f(a="b", n=3)` as Python has them (LFM2 in a list, OLMo-3 a line each), and Gemma 4's
 * `call:f{a:<|"|>b<|"|>,n:3}`. Values are literals of Python or JSON. Pure.
 */
import { MAX_JSON_DEPTH, parseJsonExactly } from '../../io/json.ts';

export interface LiteralCall {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Stands for a quotation mark in Gemma 4; nothing is escaped between two. */
export const GEMMA_QUOTE = '<|"|>';

/** Values that are words, in Python and in JSON. */
export const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
]);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '0': '\0' };
const NAME = /[\w.-]+/y;
const NUMBER = /-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y;
const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'/y;

/** All calls of a text. */
export function literalCalls(text: string): readonly LiteralCall[] {
  let at = 0;

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  const skip = (between: RegExp = /\s*/y): void => void take(between);
  const accept = (mark: string): boolean => {
    skip();
    if (!text.startsWith(mark, at)) return false;
    at += mark.length;
    return true;
  };
  const fail = (expected: string): never => {
    const got = text.slice(at, at + 20);
    throw new Error(`expected ${expected}, got ${got === '' ? 'the end' : JSON.stringify(got)}`);
  };

  /** What stands up to `close`, with commas between. */
  const listed = (close: string, item: () => void): void => {
    while (!accept(close)) {
      item();
      if (!accept(',') && !text.startsWith(close, at)) fail(`"${close}"`);
    }
  };
  const fields = (close: string, between: string, depth: number): Record<string, unknown> => {
    const entries: [string, unknown][] = [];
    listed(close, () => {
      const key = quoted() ?? take(NAME)?.[0] ?? fail('the name of an argument');
      if (!accept(between)) fail(`"${between}"`);
      entries.push([key, value(depth + 1)]);
    });
    return Object.fromEntries(entries);
  };
  const quoted = (): string | null => {
    skip();
    if (accept(GEMMA_QUOTE)) {
      const end = text.indexOf(GEMMA_QUOTE, at);
      if (end < 0) fail(`${GEMMA_QUOTE} at the end of a text`);
      const words = text.slice(at, end);
      at = end + GEMMA_QUOTE.length;
      return words;
    }
    const found = take(QUOTED);
    return found === null ? null : unescaped(found[1] ?? found[2] ?? '');
  };
  const value = (depth: number): unknown => {
    if (depth > MAX_JSON_DEPTH) throw new Error(`nested more than ${MAX_JSON_DEPTH} levels deep`);
    const words = quoted();
    if (words !== null) return words;
    if (accept('{')) return fields('}', ':', depth);
    if (accept('[')) {
      const items: unknown[] = [];
      listed(']', () => void items.push(value(depth + 1)));
      return items;
    }
    const number = take(NUMBER);
    if (number !== null) return parseJsonExactly(number[0].replace(/\.(?!\d)/, ''));
    const word = take(NAME)?.[0] ?? '';
    return WORDS.has(word) ? WORDS.get(word) : fail('a value');
  };

  const calls: LiteralCall[] = [];
  accept('[');
  for (;;) {
    skip(/[\s,;\]]*/y);
    if (at === text.length) return calls;
    accept('call:');
    const name = take(NAME)?.[0] ?? fail('the name of a function');
    const given = accept('(') ? fields(')', '=', 0) : accept('{') ? fields('}', ':', 0) : fail('"("');
    calls.push({ name, given });
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|([\s\S]))/g, (_, u?: string, x?: string, one = '') => {
    const code = u ?? x;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return one === '\n' ? '' : (ESCAPES[one] ?? one);
  });
}
