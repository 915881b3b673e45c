/**
 * Positions in JSON text. V8's errors lack a position for some faults, and parsed values have none, so the text is
 * scanned again when a line number is needed. Iterative, because the file determines the nesting depth.
 */

import { MAX_JSON_DEPTH } from './json.ts';

/** The first syntax error. */
export interface JsonFault {
  readonly offset: number;
  readonly reason: string;
}

export interface JsonPlaces {
  readonly fault: JsonFault | null;
  /** Where each item of the outermost array, or each key of the outermost object, starts. */
  readonly items: readonly number[];
}

type Expecting = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

const WHITE = /[ \t\r\n]*/y;
const ATOM = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

function matchLength(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** The end of the string that starts at `offset`, or its error. */
function stringEnd(text: string, offset: number, end: string): number | JsonFault {
  for (let i = offset + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i + 1;
    if (code < 0x20)
      return { offset: i, reason: 'expected a closing quotation mark, got a line break or control character' };
    if (code !== 0x5c) continue;
    const escaped = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(i + 1, i + 6));
    if (escaped === null)
      return { offset: i, reason: `expected an escape such as \\n or \\", got "${text.slice(i, i + 2)}"` };
    i += escaped[0].length;
  }
  return { offset, reason: `expected a closing quotation mark, got ${end}` };
}

function wanted(expecting: Expecting, open: string | undefined, end: string): string {
  if (expecting === ', or end') return open === '[' ? '"," or "]"' : '"," or "}"';
  if (expecting === 'nothing') return end;
  if (expecting === ':') return '":"';
  if (expecting.startsWith('key'))
    return expecting === 'key' ? 'a key in quotation marks' : 'a key in quotation marks or "}"';
  return expecting === 'value' ? 'a value' : 'a value or "]"';
}

/** Scans JSON text, a whole file or a line of one, for its first syntax error and the positions of its outermost items. */
export function jsonPlaces(text: string, whole: 'file' | 'line' = 'file'): JsonPlaces {
  const endName = `the end of the ${whole}`;
  const items: number[] = [];
  const open: ('[' | '{')[] = [];
  let expecting: Expecting = 'value';
  let at = 0;
  const afterValue = (): Expecting => (open.length === 0 ? 'nothing' : ', or end');
  while (true) {
    at += matchLength(WHITE, text, at);
    const char: string | undefined = text[at];
    if (char === undefined && expecting === 'nothing') return { fault: null, items };
    const wrong = (): JsonPlaces => {
      const got = char === undefined ? endName : `"${String.fromCodePoint(text.codePointAt(at) ?? 0)}"`;
      return {
        fault: { offset: at, reason: `expected ${wanted(expecting, open.at(-1), endName)}, got ${got}` },
        items,
      };
    };
    const value: boolean = expecting === 'value' || expecting === 'value or ]';
    const key: boolean = expecting === 'key' || expecting === 'key or }';
    if (open.length === 1 && char === '"' && key) items.push(at);
    if (open.length === 1 && open[0] === '[' && value && char !== ']') items.push(at);
    if (char === '"' && (value || key)) {
      const end = stringEnd(text, at, endName);
      if (typeof end !== 'number') return { fault: end, items };
      at = end;
      expecting = key ? ':' : afterValue();
    } else if (value && (char === '[' || char === '{')) {
      if (open.length === MAX_JSON_DEPTH)
        return {
          fault: { offset: at, reason: `expected at most ${MAX_JSON_DEPTH} levels of brackets, got more` },
          items,
        };
      open.push(char);
      expecting = char === '[' ? 'value or ]' : 'key or }';
      at++;
    } else if (char === ']' && open.at(-1) === '[' && (expecting === 'value or ]' || expecting === ', or end')) {
      open.pop();
      expecting = afterValue();
      at++;
    } else if (char === '}' && open.at(-1) === '{' && (expecting === 'key or }' || expecting === ', or end')) {
      open.pop();
      expecting = afterValue();
      at++;
    } else if (char === ':' && expecting === ':') {
      expecting = 'value';
      at++;
    } else if (char === ',' && expecting === ', or end') {
      expecting = open.at(-1) === '[' ? 'value' : 'key';
      at++;
    } else if (value && matchLength(ATOM, text, at) > 0) {
      at += matchLength(ATOM, text, at);
      expecting = afterValue();
    } else return wrong();
  }
}
