/** Python's str() and repr(). */
import { PyError, refuse, typeError } from './errors.ts';
import type { Run } from './run.ts';
import { concat, isStr, mapText, plain, type Str } from './text.ts';
import { isPrintable } from './unicode.ts';
import {
  Escaped,
  isObject,
  PyDict,
  PyFunction,
  PyIterator,
  PyList,
  PyRange,
  PyTuple,
  PyView,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** What `{{ value }}` prints. */
export function toText(value: Value, run: Run): Str {
  if (isStr(value)) return value;
  if (value instanceof Escaped) return value.text;
  if (value instanceof Undefined) return '';
  return repr(value, run);
}

/** What a filter block or a call block prints, which has to be a text already. */
export function blockText(value: Value): Str {
  if (isStr(value)) return value;
  return value instanceof Escaped ? value.text : typeError(`expected str, ${typeName(value)} found in a block`);
}

export function repr(value: Value, run: Run): Str {
  run.step();
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return integerText(value);
  if (typeof value === 'number') return floatText(value);
  if (isStr(value)) return quotedText(value, run);
  if (value instanceof Escaped) return concat(['Markup(', quotedText(value.text, run), ')']);
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof PyRange)
    return `range(${value.start}, ${value.stop}${value.step === 1n ? '' : `, ${value.step}`})`;
  return run.nested(() => containerText(value, run));
}

function containerText(value: Value, run: Run): Str {
  if (value instanceof PyList) return listed('[', value.items, ']', run);
  if (value instanceof PyTuple) return listed('(', value.items, value.items.length === 1 ? ',)' : ')', run);
  if (value instanceof PyView) return listed(`dict_${value.kind}([`, value.list(), '])', run);
  if (value instanceof PyDict) {
    const parts = [...value.entries()].flatMap(([key, item], i) => [
      ...(i === 0 ? [] : [', ']),
      ...[repr(key, run), ': ', repr(item, run)],
    ]);
    return joined(['{', ...parts, '}'], run);
  }
  const text = isObject(value)
    ? value.print(run)
    : value instanceof PyFunction && value.isMacro
      ? macroText(value.name)
      : null;
  if (text === null || value instanceof PyIterator)
    refuse(`printing a ${typeName(value)}, which Python gives an address,`);
  return text ?? '';
}

function macroText(name: string): string {
  return name === '' ? '<Macro anonymous>' : `<Macro '${name}'>`;
}

function listed(open: string, items: readonly Value[], close: string, run: Run): Str {
  return joined(
    [open, ...items.flatMap((item, i) => (i === 0 ? [repr(item, run)] : [', ', repr(item, run)])), close],
    run,
  );
}

/** The parts together, counted. */
export function joined(parts: readonly Str[], run: Run): Str {
  run.size(parts.reduce((sum, part) => sum + weightOf(part), 0));
  return concat(parts);
}

/** What a text takes; its spans are a list. */
export function weightOf(text: Str): number {
  return typeof text === 'string' ? text.length : text.text.length + 8 * text.spans.length;
}

/** Python refuses to spell out longer ones. */
const MOST_DIGITS = 4300;

export function integerText(value: bigint): string {
  const text = value.toString();
  if (text.length - (value < 0n ? 1 : 0) <= MOST_DIGITS) return text;
  throw new PyError('ValueError', `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion`);
}

/** The shortest digits that give the number, as both languages choose them, in Python's notation. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value !== 0 && (power < -4 || power >= 16)) return `${mantissa}e${exponentText(power)}`;
  const sign = value < 0 ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  const padded = digits.padEnd(power + 2, '0');
  return `${sign}${padded.slice(0, power + 1)}.${padded.slice(power + 1)}`;
}

export function exponentText(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const NAMED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quotedText(text: Str, run: Run): Str {
  const all = plain(text);
  run.size(all.length);
  const mark = all.includes("'") && !all.includes('"') ? '"' : "'";
  const inside = mapText(text, (part) =>
    [...part].map((character) => (character === mark ? `\\${mark}` : escapedCharacter(character))).join(''),
  );
  return joined([mark, inside, mark], run);
}

function escapedCharacter(character: string): string {
  if (character >= ' ' && character <= '~' && character !== '\\') return character;
  if (NAMED[character] !== undefined) return NAMED[character] ?? '';
  return isPrintable(character) ? character : escapedPoint(character.codePointAt(0) ?? 0);
}

/** Python's escape of a character: \xNN, \uNNNN or \UNNNNNNNN. */
function escapedPoint(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Python's ascii(): as repr, with all but ASCII escaped. */
export function ascii(value: Value, run: Run): Str {
  return mapText(repr(value, run), (part) =>
    part.replace(/[\u0080-\u{10ffff}]/gu, (character) => escapedPoint(character.codePointAt(0) ?? 0)),
  );
}
