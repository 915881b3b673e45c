/**
 * Jinja's lexer with trim_blocks and lstrip_blocks, as transformers sets it up: texts, tags and their tokens.
 * After jinja2/lexer.py.
 */
import { PyError } from './errors.ts';
import { SPACE } from './unicode.ts';

export interface Token {
  readonly type:
    | 'data'
    | 'block_begin'
    | 'block_end'
    | 'variable_begin'
    | 'variable_end'
    | 'operator'
    | 'name'
    | 'string'
    | 'integer'
    | 'float'
    | 'eof';
  readonly value: string;
  readonly line: number;
}

const SPACES = new RegExp(`[${SPACE}]+`, 'y');
const FLOAT = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[0-1])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{XIDS}_][\p{XIDC}]*/uy;
const STRING = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[+\-/*%~[\](){}><=.:|,;]/y;
const OPENING = /\{%|\{\{|\{#/g;
const RAW = new RegExp(`\\{%([-+]?)[${SPACE}]*raw[${SPACE}]*(?:-%\\}[${SPACE}]*|%\\})`, 'y');
const END_RAW = new RegExp(`\\{%([-+]?)[${SPACE}]*endraw[${SPACE}]*(?:\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?)`, 'g');
const COMMENT_END = new RegExp(`\\+#\\}|-#\\}[${SPACE}]*|#\\}\\n?`, 'g');
const BLOCK_END = new RegExp(`\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?`, 'y');
const VARIABLE_END = new RegExp(`-\\}\\}[${SPACE}]*|\\}\\}`, 'y');
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };

export function syntaxError(message: string, line: number): never {
  throw new PyError('TemplateError', `${message} in line ${line}`);
}

export function tokenize(template: string): Token[] {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  /** Whether a tag that begins here is the first of its line. */
  let lineStarting = true;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const pass = (end: number): void => {
    for (let i = at; i < end; i++) if (source[i] === '\n') line += 1;
    if (end > at) lineStarting = source[end - 1] === '\n';
    at = end;
  };
  /** The text before a tag, less what the tag strips from it. */
  const data = (end: number, sign: string, isVariable: boolean): void => {
    const text = source.slice(at, end);
    const value = sign === '-' ? withoutEnd(text) : sign === '+' || isVariable ? text : lstripped(text, lineStarting);
    if (value !== '') tokens.push({ type: 'data', value, line });
    pass(end);
  };
  while (at < source.length) {
    const opening = read(OPENING);
    if (opening === null) {
      tokens.push({ type: 'data', value: source.slice(at), line });
      break;
    }
    const start = opening.index;
    const sign = /[-+]/.test(source[start + 2] ?? '') ? (source[start + 2] ?? '') : '';
    data(start, sign, opening[0] === '{{');
    const begun = line;
    const raw = opening[0] === '{%' ? read(RAW) : null;
    if (raw !== null) {
      pass(at + raw[0].length);
      // As in Jinja2, nothing is missing at the very end.
      if (at >= source.length) break;
      const end = read(END_RAW) ?? syntaxError('Missing end of raw directive', begun);
      data(end.index, end[1] ?? '', false);
      pass(at + end[0].length);
    } else if (opening[0] === '{#') {
      pass(start + 2 + sign.length);
      if (at >= source.length) break;
      const end = read(COMMENT_END) ?? syntaxError('Missing end of comment tag', begun);
      pass(end.index + end[0].length);
    } else {
      const kind = opening[0] === '{{' ? 'variable' : 'block';
      tokens.push({ type: `${kind}_begin`, value: opening[0], line });
      pass(start + 2 + sign.length);
      tag(kind);
    }
  }
  return [...tokens, { type: 'eof', value: '', line }];

  function tag(kind: 'variable' | 'block'): void {
    const open: string[] = [];
    for (;;) {
      const end = open.length === 0 ? read(kind === 'variable' ? VARIABLE_END : BLOCK_END) : null;
      if (end !== null) {
        tokens.push({ type: `${kind}_end`, value: end[0], line });
        pass(at + end[0].length);
        return;
      }
      const space = read(SPACES);
      if (space !== null) pass(at + space[0].length);
      else if (at >= source.length) return;
      else token(open);
    }
  }

  function token(open: string[]): void {
    const [type, match] = word();
    const text = match[0];
    if (type === 'operator') {
      if (CLOSING[text] !== undefined) open.push(CLOSING[text] ?? '');
      else if (text === '}' || text === ')' || text === ']') {
        const expected = open.pop();
        if (expected !== text)
          syntaxError(`unexpected '${text}'${expected === undefined ? '' : `, expected '${expected}'`}`, line);
      }
    }
    tokens.push({ type, value: type === 'string' ? unescaped(text.slice(1, -1), line) : text, line });
    pass(at + text.length);
  }

  function word(): readonly [Token['type'], RegExpExecArray] {
    for (const [type, pattern] of WORDS) {
      const match = read(pattern);
      if (match !== null) return [type, match];
    }
    return syntaxError(`unexpected char ${JSON.stringify(source[at])}`, line);
  }
}

const WORDS: readonly (readonly [Token['type'], RegExp])[] = [
  ['float', FLOAT],
  ['integer', INTEGER],
  ['name', NAME],
  ['string', STRING],
  ['operator', OPERATOR],
];

const LAST_SPACES = new RegExp(`[${SPACE}]`);

/** The text without white space at its end, in linear time. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && LAST_SPACES.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

/** The text without the white space between its last line break and the tag. */
function lstripped(text: string, lineStarting: boolean): string {
  const start = text.lastIndexOf('\n') + 1;
  if (start === 0 && !lineStarting) return text;
  return withoutEnd(text.slice(start)) === '' ? text.slice(0, start) : text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\n': '',
};
const ESCAPE = /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{1,3}|.)/gsu;

/** What Python's unicode-escape makes of a string's inside. */
function unescaped(inside: string, line: number): string {
  return inside.replace(ESCAPE, (whole, code: string) => {
    const kind = code[0] ?? '';
    if (/^[xuU]./.test(code)) return character(Number.parseInt(code.slice(1), 16), line);
    if (/^[0-7]/.test(code)) return character(Number.parseInt(code, 8), line);
    if (/^[xuU]/.test(kind)) syntaxError(`truncated \\${kind} escape`, line);
    if (kind === 'N') syntaxError("\\N in a string isn't supported here,", line);
    // Jinja spells such a character as an escape first, whose own backslash this one then escapes.
    if (kind > '\x7f') return `\\${spelled(code.codePointAt(0) ?? 0)}`;
    return ESCAPES[kind] ?? whole;
  });
}

function spelled(code: number): string {
  if (code <= 0xff) return `x${code.toString(16)}`;
  return code <= 0xffff ? `u${code.toString(16).padStart(4, '0')}` : `U${code.toString(16).padStart(8, '0')}`;
}

function character(code: number, line: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : syntaxError('illegal Unicode character', line);
}
