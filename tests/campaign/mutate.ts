/** Inputs that are nearly right: good ones, changed by chance in ways that parsers are known to mind. */
import type { RandomStream } from '../../main/random.ts';

/** One of several. */
export function pick<T>(stream: RandomStream, items: readonly T[]): T {
  return items[stream.below(items.length)] as T;
}

const TOKENS: readonly string[] = [
  ...['\0', '\u001b', '\ufeff', '\ud800', '\u2028', '\r', '\n', '\t', ' ', '\\', '"', "'", '`'],
  ...['{', '}', '[', ']', '(', ')', '<', '>', ':', ',', '#', '&a ', '*a', '!!binary ', '|', '- ', '---\n', '<!--'],
  ...['{{', '}}', '{%', '%}', '**', '__', '![', ']('],
  ...['null', 'true', 'NaN', '-0', '1e999', '-1', '0.5', '2147483648', '9007199254740993', '1'.repeat(400)],
  ...['__proto__', 'constructor', 'toString', 'prototype', '../../etc/passwd', '/dev/zero', 'file:///', '%00'],
];

const HOSTILE: readonly unknown[] = [
  ...[null, true, -1, 0, 0.5, 1e308, 2 ** 31, 2 ** 53, '', ' ', '\0', '\ud800', 'x', [], {}, [[]], [null], { a: 1 }],
  ...['../../etc/passwd', '/dev/zero', '__proto__', { __proto__: null, length: 1e9 }, 'x'.repeat(5000)],
];

/** A hostile value for any place of a JSON value. */
export function hostileValue(stream: RandomStream): unknown {
  if (stream.below(40) === 0) return nested(10 + stream.below(300));
  return pick(stream, HOSTILE);
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

/** A copy of a JSON value in which a few places have become something else. */
export function mutatedValue(stream: RandomStream, value: unknown): unknown {
  if (stream.below(8) === 0) return hostileValue(stream);
  if (Array.isArray(value)) {
    const items = value.map((item) => (stream.below(3) === 0 ? mutatedValue(stream, item) : item));
    return stream.below(10) === 0 ? [...items, ...items] : items;
  }
  if (typeof value !== 'object' || value === null) return stream.below(3) === 0 ? hostileValue(stream) : value;
  const entries = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    if (stream.below(12) === 0) return [];
    return [[name, stream.below(3) === 0 ? mutatedValue(stream, field) : field]];
  });
  if (stream.below(10) === 0) entries.push([pick(stream, TOKENS), hostileValue(stream)]);
  return Object.fromEntries(entries);
}

/** Patterns that backtrack for ever, for any place that takes one. */
const PATTERNS: readonly string[] = ['^(a+)+$', '(.*)*x', '([a-z]+)+$', '(a|a)*b', '\\p{L}*\\p{L}*\\p{L}*!'];

/**
 * A copy of a JSON value with one or two places changed, most of them to something alike: what reads it gets past its
 * outer form, to where the faults are.
 */
export function nudgedValue(stream: RandomStream, value: unknown): unknown {
  let changed = value;
  for (let times = 1 + stream.below(2); times > 0; times--) changed = nudgedOnce(stream, changed);
  return changed;
}

function nudgedOnce(stream: RandomStream, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) {
    const at = stream.below(value.length);
    const kind = stream.below(12);
    if (kind === 0) return value.toSpliced(at, 1);
    if (kind === 1) return value.toSpliced(at, 0, value[stream.below(value.length)]);
    return value.with(at, nudgedOnce(stream, value[at]));
  }
  if (typeof value !== 'object' || value === null) return alike(stream, value);
  const entries = Object.entries(value);
  if (entries.length === 0) return value;
  const at = stream.below(entries.length);
  const [name, field] = entries[at] ?? ['', null];
  if (stream.below(25) === 0) return Object.fromEntries(entries.toSpliced(at, 1));
  return Object.fromEntries(entries.with(at, [name, nudgedOnce(stream, field)]));
}

function alike(stream: RandomStream, value: unknown): unknown {
  if (stream.below(10) === 0) return hostileValue(stream);
  if (typeof value === 'number') return pick(stream, [0, 1, -1, value + 1, 2 * value, value / 2, 1e9, 2 ** 31, 1e-300]);
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return pick(stream, ['', 0, false, 'x']);
  if (stream.below(4) === 0) return pick(stream, PATTERNS);
  return pick(stream, ['', value + value, value.toUpperCase(), value.slice(1), `${value} `, pick(stream, TOKENS)]);
}

/** Changed bytes: flipped, cut, repeated, overwritten, with tokens put in between. */
export function mutatedBytes(stream: RandomStream, bytes: Buffer): Buffer {
  let changed = bytes;
  for (let times = 1 + stream.below(4); times > 0; times--) changed = changedOnce(stream, changed);
  return changed;
}

function changedOnce(stream: RandomStream, bytes: Buffer): Buffer {
  const at = stream.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + stream.below(40));
  const between = (middle: Buffer, after = at): Buffer =>
    Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(after)]);
  switch (stream.below(7)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return between(Buffer.from(pick(stream, TOKENS)));
    case 2:
      return between(Buffer.from(pick(stream, TOKENS).repeat(1 + stream.below(pick(stream, [3, 300, 20_000])))));
    case 3:
      return between(Buffer.alloc(end - at), end);
    case 4:
      return between(bytes.subarray(at, end));
    case 5:
      return between(Buffer.from([stream.below(256)]), Math.min(bytes.length, at + 1));
    default: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[stream.below(copy.length)] = (copy[at % copy.length] ?? 0) ^ (1 << stream.below(8));
      return copy;
    }
  }
}

/** A mutation of a text: of its values where it is JSON, of its bytes otherwise, of both now and then. */
export function mutatedText(stream: RandomStream, text: string): Buffer {
  const bytes = Buffer.from(stream.below(2) === 0 ? restructured(stream, text) : text);
  return stream.below(2) === 0 ? bytes : mutatedBytes(stream, bytes);
}

function restructured(stream: RandomStream, text: string): string {
  const rows = text.trim().split('\n');
  try {
    // JSON lines: one of them changes.
    if (rows.length > 1 && rows.every((row) => row.startsWith('{'))) {
      const at = stream.below(rows.length);
      return rows.map((row, i) => (i === at ? json(mutatedValue(stream, JSON.parse(row))) : row)).join('\n');
    }
    return json(mutatedValue(stream, JSON.parse(text)));
  } catch {
    return text;
  }
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
