/** Python's int() and float() of texts and numbers. */
import { floatOf, isNumber, wholeOf } from './compare.ts';
import { PyError, refuse } from './errors.ts';
import { isStr, plain } from './text.ts';
import { SPACE } from './unicode.ts';
import { Escaped, typeName, Undefined, type Value } from './values.ts';

/** Digits can be read in one way only: in two, a template's long number would take hours. */
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i;
const NOT_FINITE = /^([+-]?)(?:inf(?:inity)?|(nan))$/i;

function trimmed(text: string): string {
  if (/(?![0-9])\p{Nd}/u.test(text)) refuse("a number in digits that aren't ASCII");
  return text.replace(new RegExp(`^[${SPACE}]+`), '').replace(new RegExp(`(?<![${SPACE}])[${SPACE}]+$`), '');
}

/** float(value) */
export function floatNumber(value: Value): number {
  if (value instanceof Undefined) throw new PyError('UndefinedError', value.why);
  if (isNumber(value)) return floatOf(value);
  if (value instanceof Escaped) return refuse('a number from an escaped text');
  if (!isStr(value)) throw new PyError('TypeError', `float() argument must be a number, not '${typeName(value)}'`);
  const text = trimmed(plain(value));
  const [, sign, nan] = NOT_FINITE.exec(text) ?? [];
  if (nan !== undefined) return Number.NaN;
  if (sign !== undefined) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (!FLOAT.test(text)) throw new PyError('ValueError', 'could not convert string to float');
  return Number(text.replaceAll('_', ''));
}

/** The filter `int`: int(value), or int(float(value)); null where neither works. */
export function wholeNumber(value: Value, base: number): bigint | null {
  const whole = wholeOf(value);
  if (whole !== null) return whole;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return BigInt(Math.trunc(value));
    if (Number.isNaN(value)) return null;
    throw new PyError('OverflowError', 'cannot convert float infinity to integer');
  }
  if (!isStr(value) && !(value instanceof Undefined) && !(value instanceof Escaped)) return null;
  const digits = isStr(value) ? inBase(trimmed(plain(value)), base) : null;
  if (digits !== null) return digits;
  try {
    const float = floatNumber(value);
    return Number.isFinite(float) ? BigInt(Math.trunc(float)) : null;
  } catch (error) {
    if (error instanceof PyError && (error.kind === 'ValueError' || error.kind === 'TypeError')) return null;
    throw error;
  }
}

const PREFIXES: Readonly<Record<number, string>> = { 2: '0b', 8: '0o', 16: '0x' };

function inBase(text: string, base: number): bigint | null {
  if (base !== 0 && (base < 2 || base > 36)) return null;
  const [, sign = '', unsigned = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  const lower = unsigned.toLowerCase();
  const detected =
    base === 0 ? Number(Object.entries(PREFIXES).find(([, prefix]) => lower.startsWith(prefix))?.[0] ?? 10) : base;
  const prefix = PREFIXES[detected];
  const prefixed = prefix !== undefined && lower.startsWith(prefix);
  const digits = prefixed ? lower.slice(2).replace(/^_/, '') : lower;
  if (!/^[0-9a-z]+(?:_[0-9a-z]+)*$/.test(digits)) return null;
  const plainDigits = digits.replaceAll('_', '');
  if (base === 0 && !prefixed && /^0+[1-9]/.test(plainDigits)) return null;
  if (plainDigits.length > 4300 && detected !== 2 && detected !== 8 && detected !== 16) return null;
  if (plainDigits.length > 20_000) refuse('such a large number');
  let value = 0n;
  for (const digit of plainDigits) {
    const own = Number.parseInt(digit, 36);
    if (own >= detected) return null;
    value = value * BigInt(detected) + BigInt(own);
  }
  return sign === '-' ? -value : value;
}
