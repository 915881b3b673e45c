/** transformers' own `tojson`: Python's json.dumps, without HTML's escapes. */
import { sortedBy } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { floatText, integerText, joined } from './print.ts';
import type { Run } from './run.ts';
import { textArgument, wholeArgument } from './signature.ts';
import { concat, isStr, mapText, plain, type Str } from './text.ts';
import { Escaped, PyDict, PyList, PyTuple, typeName, type Value } from './values.ts';

export interface JsonOptions {
  readonly ascii: boolean;
  /** What a level is indented by; null: all on one line. */
  readonly indent: string | null;
  readonly between: Str;
  readonly afterKey: Str;
  readonly sorted: boolean;
}

/** The options that the filter was given. */
export function jsonOptions(indent: Value, separators: Value, ascii: boolean, sorted: boolean): JsonOptions {
  const spaces =
    indent === null
      ? null
      : isStr(indent)
        ? plain(indent)
        : ' '.repeat(Math.min(1000, Math.max(0, wholeArgument(indent, 0))));
  const given = separators instanceof PyTuple || separators instanceof PyList ? separators.items : null;
  if (separators !== null && given?.length !== 2) typeError('separators must be two texts');
  const [between, afterKey] = given?.map((text) => textArgument(text, 'tojson')) ?? [
    spaces === null ? ', ' : ',',
    ': ',
  ];
  return { ascii, indent: spaces, between: between ?? ', ', afterKey: afterKey ?? ': ', sorted };
}

export function toJson(value: Value, options: JsonOptions, run: Run, level = 0): Str {
  run.step();
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return integerText(value);
  if (typeof value === 'number') return jsonFloat(value);
  if (isStr(value)) return jsonText(value, options, run);
  if (value instanceof Escaped) return jsonText(value.text, options, run);
  return run.nested(() => {
    if (value instanceof PyList || value instanceof PyTuple) {
      const items = value.items.map((item) => toJson(item, options, run, level + 1));
      return bracketed('[', items, ']', options, level, run);
    }
    if (!(value instanceof PyDict)) return typeError(`Object of type ${typeName(value)} is not JSON serializable`);
    const entries = options.sorted
      ? sortedBy(
          [...value.entries()].map((entry) => new PyTuple(entry)),
          (entry) => entry,
          false,
          run,
        ).map((entry) => (entry as PyTuple).items)
      : value.entries();
    const items = [...entries].map(([key = null, item = null]) =>
      concat([jsonText(keyText(key), options, run), options.afterKey, toJson(item, options, run, level + 1)]),
    );
    return bracketed('{', items, '}', options, level, run);
  });
}

function bracketed(
  open: string,
  items: readonly Str[],
  close: string,
  { indent, between }: JsonOptions,
  level: number,
  run: Run,
): Str {
  if (items.length === 0) return open + close;
  const line = (depth: number): string => (indent === null ? '' : `\n${indent.repeat(depth)}`);
  const parts = items.flatMap((item, i) => (i === 0 ? [item] : [between, line(level + 1), item]));
  return joined([open, line(level + 1), ...parts, line(level), close], run);
}

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  return floatText(value);
}

function keyText(key: Value): Str {
  if (isStr(key)) return key;
  if (key instanceof Escaped) return refuse('an escaped text as a key of JSON');
  if (key === null) return 'null';
  if (typeof key === 'boolean') return String(key);
  if (typeof key === 'bigint') return integerText(key);
  if (typeof key === 'number') return jsonFloat(key);
  throw new PyError('TypeError', `keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes these.
const ESCAPED = /["\\\x00-\x1f]/g;
const ESCAPED_ASCII = /["\\]|[^ -~]/g;

function jsonText(text: Str, { ascii }: JsonOptions, run: Run): Str {
  run.size(2 * plain(text).length);
  const spelled = (part: string): string =>
    part.replace(
      ascii ? ESCAPED_ASCII : ESCAPED,
      (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  return concat(['"', mapText(text, spelled), '"']);
}
