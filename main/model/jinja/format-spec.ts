/** Python's format(): `{:>8.2f}` and the numbers of `%`. */
import { floatOf, isNumber, wholeOf } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { fixed, leading } from './numbers.ts';
import { exponentText, floatText, integerText, toText } from './print.ts';
import type { Run } from './run.ts';
import { concat, isStr, lengthOf, plain, pointsOf, type Str, slice } from './text.ts';
import { Escaped, typeName, Undefined, type Value } from './values.ts';

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?(.)?$/su;

/** format(value, spec) */
export function format(value: Value, spec: string, run: Run): Str {
  if (spec === '') return toText(value, run);
  if (value instanceof Escaped) refuse('formatting an escaped text');
  if (!isStr(value) && !isNumber(value)) {
    if (value instanceof Undefined) refuse('a format of an undefined value');
    typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  }
  const match = SPEC.exec(spec) ?? invalid(`Invalid format specifier '${spec}'`);
  const [, fill, align, sign = '-', negativeZero, alternate, zero, width, group, precision, type] = match;
  if (type === 'n') refuse('"n" in a format');
  if (negativeZero !== undefined) refuse('"z" in a format');
  const digits = precision === undefined ? null : small(precision);
  const filled = fill ?? (zero === undefined ? ' ' : '0');
  const room = width === undefined ? 0 : small(width);
  run.size(room + 16 * (digits ?? 0));
  if (isStr(value)) {
    if (type !== undefined && type !== 's') invalid(`Unknown format code '${type}' for object of type 'str'`);
    if (sign !== '-' || match[3] !== undefined) invalid('Sign not allowed in string format specifier');
    if (alternate !== undefined) invalid('Alternate form (#) not allowed in string format specifier');
    if (group !== undefined) invalid(`Cannot specify '${group}' with 's'.`);
    if (align === '=' || (zero !== undefined && align === undefined && fill === undefined && align === '='))
      invalid("'=' alignment not allowed in string format specifier");
    return aligned(digits === null ? value : firstPoints(value, digits), filled, align ?? '<', room);
  }
  const { prefix, body } = numberParts(value as boolean | bigint | number, type ?? null, {
    digits,
    alternate: alternate !== undefined,
    group: group ?? null,
    // Zeros before a grouped number are grouped, too.
    room: zero !== undefined && (align ?? '=') === '=' && filled === '0' && group !== undefined ? room : 0,
    sign,
  });
  const how = align ?? (zero === undefined ? '>' : '=');
  if (how !== '=') return aligned(prefix + body, filled, how, room);
  return prefix + filled.repeat(Math.max(0, room - [...prefix, ...body].length)) + body;
}

export interface NumberFormat {
  readonly digits: number | null;
  readonly alternate: boolean;
  readonly group: string | null;
  readonly room: number;
  readonly sign: string;
}

/** A number's sign with its prefix, and its digits. */
export function numberParts(
  value: boolean | bigint | number,
  type: string | null,
  options: NumberFormat,
): { prefix: string; body: string } {
  const whole = wholeOf(value);
  const integral = whole !== null && (type === null || 'bcdoxXn'.includes(type));
  if (type !== null && !'bcdeEfFgGnosxX%'.includes(type))
    invalid(`Unknown format code '${type}' for object of type '${typeName(value)}'`);
  if (type === 's' || type === 'n') invalid(`Unknown format code '${type}' for object of type '${typeName(value)}'`);
  if (whole === null && type !== null && 'bcdoxX'.includes(type))
    invalid(`Unknown format code '${type}' for object of type 'float'`);
  if (integral && options.digits !== null) invalid('Precision not allowed in integer format specifier');
  const negative = whole === null ? (value as number) < 0 || Object.is(value, -0) : whole < 0n;
  const sign = negative ? '-' : options.sign === '-' ? '' : options.sign;
  if (integral && whole !== null) return wholeParts(whole < 0n ? -whole : whole, type ?? 'd', sign, options);
  const body = floatBody(floatOf(value), type, options);
  return { prefix: sign, body: grouped(body, options.group, 3, options.room - sign.length) };
}

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16, d: 10 };

function wholeParts(value: bigint, type: string, sign: string, { alternate, group, room }: NumberFormat) {
  if (type === 'c') {
    if (sign !== '') invalid("Sign not allowed with integer format specifier 'c'");
    return {
      prefix: '',
      body: value <= 0x10ffffn ? String.fromCodePoint(Number(value)) : invalid('%c arg not in range(0x110000)'),
    };
  }
  const digits = type === 'd' ? integerText(value) : value.toString(BASES[type] ?? 10);
  if (group === ',' && type !== 'd') invalid(`Cannot specify ',' with '${type}'.`);
  const prefix = sign + (alternate && type !== 'd' ? `0${type}` : '');
  const body = grouped(type === 'X' ? digits.toUpperCase() : digits, group, type === 'd' ? 3 : 4, room - prefix.length);
  return { prefix, body };
}

/** Digits before the point in groups, with zeros in front up to a width. */
function grouped(body: string, group: string | null, size: number, room: number): string {
  if (group === null) return body;
  const [, digits = '', rest = ''] = (size === 3 ? /^(\d+)(.*)$/s : /^([\dA-Fa-f]+)(.*)$/s).exec(body) ?? [
    '',
    '',
    body,
  ];
  if (digits === '') return body;
  let count = digits.length;
  while (count + Math.floor((count - 1) / size) + rest.length < room) count++;
  const padded = digits.padStart(count, '0');
  const parts = [padded.slice(0, count % size || size)];
  for (let at = parts[0]?.length ?? size; at < count; at += size) parts.push(padded.slice(at, at + size));
  return parts.join(group) + rest;
}

function floatBody(value: number, type: string | null, { digits, alternate }: NumberFormat): string {
  const size = Math.abs(value);
  const upper = type !== null && 'EFG'.includes(type);
  if (!Number.isFinite(size)) {
    const text = Number.isNaN(size) ? 'nan' : 'inf';
    return (upper ? text.toUpperCase() : text) + (type === '%' ? '%' : '');
  }
  const point = alternate ? '.' : '';
  if (type === 'f' || type === 'F') return fixed(size, digits ?? 6) + (digits === 0 ? point : '');
  if (type === '%') return `${percent(size, digits ?? 6)}${digits === 0 ? point : ''}%`;
  if (type === 'e' || type === 'E') {
    const text = exponential(leading(size, (digits ?? 6) + 1), alternate);
    return upper ? text.toUpperCase() : text;
  }
  if (type === null && digits === null) return floatText(size);
  const text = general(size, digits === 0 ? 1 : (digits ?? 6), alternate, type === null);
  return upper ? text.toUpperCase() : text;
}

function percent(size: number, digits: number): string {
  const times = size * 100;
  return Number.isFinite(times) ? fixed(times, digits) : 'inf';
}

function exponential([digits, power]: readonly [string, number], alternate: boolean): string {
  const rest = digits.slice(1);
  return `${digits[0]}${rest === '' ? (alternate ? '.' : '') : `.${rest}`}e${exponentText(power)}`;
}

/** %g: fixed or exponential by the power of ten, without zeros at its end. `asFloat`: as str() would, 1.0 keeps its zero. */
function general(size: number, count: number, alternate: boolean, asFloat: boolean): string {
  const [digits, power] = leading(size, count);
  const kept = alternate ? digits : digits.replace(/0+$/, '') || '0';
  // Without a type the switch comes a digit earlier.
  if (power < -4 || power >= count - (asFloat ? 1 : 0)) return exponential([kept, power], alternate);
  if (power < 0) return `0.${'0'.repeat(-power - 1)}${kept}`;
  const before = kept.slice(0, power + 1).padEnd(power + 1, '0');
  const after = kept.slice(power + 1);
  if (after !== '') return `${before}.${after}`;
  return before + (asFloat ? '.0' : alternate ? '.' : '');
}

/** The text with fill characters around it up to a width. */
function aligned(text: Str, fill: string, align: string, room: number): Str {
  const missing = Math.max(0, room - lengthOf(text));
  const left = align === '<' ? 0 : align === '>' ? missing : Math.floor(missing / 2);
  return concat([fill.repeat(left), text, fill.repeat(missing - left)]);
}

export function firstPoints(text: Str, count: number): Str {
  const points = pointsOf(plain(text));
  return slice(text, 0, Math.min(plain(text).length, points === null ? count : (points[count] ?? plain(text).length)));
}

/** A width or precision. */
export function small(digits: string): number {
  const value = Number(digits);
  return value <= 10_000 ? value : refuse(`a width of ${digits}`);
}

function invalid(message: string): never {
  throw new PyError('ValueError', message);
}
