/** Python's `text % values`. */
import { floatOf, isNumber, wholeOf } from './compare.ts';
import { PyError, typeError } from './errors.ts';
import { firstPoints, numberParts, small } from './format-spec.ts';
import { ascii, joined, repr, toText } from './print.ts';
import type { Run } from './run.ts';
import { concat, isStr, lengthOf, plain, type Str, slice } from './text.ts';
import { PyDict, PyList, PyRange, PyTuple, typeName, Undefined, type Value } from './values.ts';

const FIELD = /%(?:\(((?:[^()]|\([^()]*\))*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?(.)?/gsu;
const PRECISION = /\.(\*|\d+)?[hlL]?.?$/su;

export function formatPercent(text: Str, values: Value, run: Run): Str {
  const whole = plain(text);
  run.size(whole.length);
  let taken = 0;
  const next = (): Value => {
    const given = values instanceof PyTuple ? values.items : [values];
    taken += 1;
    return given[taken - 1] ?? (taken > given.length ? typeError('not enough arguments for format string') : null);
  };
  const parts: Str[] = [];
  let at = 0;
  for (const match of whole.matchAll(FIELD)) {
    const [all, key, flags = '', width, , type] = match;
    parts.push(slice(text, at, match.index));
    at = match.index + all.length;
    if (type === undefined) throw new PyError('ValueError', 'incomplete format');
    if (type === '%') {
      if (all !== '%%') throw new PyError('ValueError', `unsupported format ${all}`);
      parts.push('%');
      continue;
    }
    const given = PRECISION.exec(all)?.[1] ?? (PRECISION.test(all) ? '0' : null);
    const mapped = key === undefined ? null : keyed(values, key);
    if (mapped !== null) taken = 1;
    const room = width === '*' ? starred(next()) : Number(small(width ?? '0'));
    const digits = given === '*' ? Math.max(0, starred(next())) : given === null ? null : small(given);
    const left = flags.includes('-') || room < 0;
    parts.push(field(mapped ?? { value: next() }, type, flags, Math.abs(room), left, digits, run));
  }
  const mapping =
    values instanceof PyDict || values instanceof PyList || values instanceof PyRange || values instanceof Undefined;
  const count = values instanceof PyTuple ? values.items.length : mapping ? 0 : 1;
  if (taken < count) typeError('not all arguments converted during string formatting');
  return joined([...parts, slice(text, at)], run);
}

function keyed(values: Value, key: string): { value: Value } {
  if (!(values instanceof PyDict)) return typeError('format requires a mapping');
  const value = values.get(key);
  if (value === undefined) throw new PyError('LookupError', key);
  return { value };
}

function starred(value: Value): number {
  const whole = wholeOf(value) ?? typeError('* wants int');
  return (whole < 0n ? -1 : 1) * small(String(whole < 0n ? -whole : whole));
}

function field(
  { value }: { value: Value },
  type: string,
  flags: string,
  room: number,
  left: boolean,
  digits: number | null,
  run: Run,
): Str {
  run.size(room + 16 * (digits ?? 0));
  const padded = (text: Str, zeros: string | null): Str => {
    const missing = room - lengthOf(text) - (zeros ?? '').length;
    if (missing <= 0) return concat([zeros ?? '', text]);
    if (left) return concat([zeros ?? '', text, ' '.repeat(missing)]);
    if (zeros !== null && flags.includes('0')) return concat([zeros, '0'.repeat(missing), text]);
    return concat([' '.repeat(missing), zeros ?? '', text]);
  };
  if (type === 's' || type === 'r' || type === 'a') {
    const text = type === 's' ? toText(value, run) : type === 'r' ? repr(value, run) : ascii(value, run);
    // Before it is read: a pattern may have the same value many times.
    run.size(plain(text).length);
    return padded(digits === null ? text : firstPoints(text, digits), null);
  }
  if (type === 'c') return padded(characterOf(value), null);
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '-';
  const options = { alternate: flags.includes('#'), group: null, room: 0, sign };
  if ('diuoxX'.includes(type)) {
    const base = 'diu'.includes(type) ? 'd' : type;
    const { prefix, body } = numberParts(wholeNumber(value, type), base, { ...options, digits: null });
    return padded(body.padStart(digits ?? 0, '0'), prefix);
  }
  if (!'eEfFgG'.includes(type)) throw new PyError('ValueError', `unsupported format character '${type}'`);
  if (!isNumber(value)) return typeError(`must be real number, not ${typeName(value)}`);
  const { prefix, body } = numberParts(floatOf(value), type, { ...options, digits: digits ?? 6 });
  return padded(body, prefix);
}

function wholeNumber(value: Value, type: string): bigint {
  const whole = wholeOf(value);
  if (whole !== null) return whole;
  if (typeof value === 'number' && 'diu'.includes(type) && Number.isFinite(value)) return BigInt(Math.trunc(value));
  return typeError(`%${type} format: a number is required, not ${typeName(value)}`);
}

function characterOf(value: Value): Str {
  if (isStr(value) && lengthOf(value) === 1) return value;
  if (typeof value === 'bigint' && value >= 0n && value <= 0x10ffffn) return String.fromCodePoint(Number(value));
  return typeError('%c requires int or char');
}
