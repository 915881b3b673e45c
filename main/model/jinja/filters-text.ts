/** Jinja's filters of texts and numbers. After jinja2/filters.py. */
import { attribute } from './attributes.ts';
import { floatOf, isNumber, wholeOf } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { formatPercent } from './format-percent.ts';
import { isTrue, itemsOf, length } from './iterate.ts';
import { jsonOptions, toJson } from './json.ts';
import { fixed, rounded } from './numbers.ts';
import { arithmetic, sliced } from './operators.ts';
import { floatNumber, wholeNumber } from './parse-number.ts';
import { joined, toText } from './print.ts';
import type { Run } from './run.ts';
import { type Builtin, textArgument, wholeArgument } from './signature.ts';
import { capitalized, centered } from './str-methods.ts';
import { replace, splitLines, stripped } from './str-split.ts';
import { concat, isStr, lengthOf, mapText, plain, type Str } from './text.ts';
import { SPACE } from './unicode.ts';
import { Escaped, type Named, PyDict, PyTuple, Undefined, type Value } from './values.ts';

type Filter = Builtin<Value>;

/** markupsafe's soft_str, for filters that then use methods of str. */
function textOf(value: Value, run: Run): Str {
  return value instanceof Escaped ? refuse('this filter of an escaped text') : toText(value, run);
}

/** `cost`: how many characters one takes on the way. */
function mapped(change: (text: string) => string, cost = 2): Filter {
  return {
    params: '',
    call: (value, _, run) => {
      const text = textOf(value, run);
      run.size(cost * plain(text).length);
      return mapText(text, change);
    },
  };
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    "'": '&#39;',
    '"': '&#34;',
  };
  return text.replace(/[&<>'"]/g, (character) => names[character] ?? character);
}

function escaped(value: Value, run: Run): Escaped {
  const text = toText(value, run);
  run.size(6 * plain(text).length);
  return new Escaped(mapText(text, escapeHtml));
}

const WORD_START = new RegExp(`([-${SPACE}({\\[<]+)`);

function titled(text: string): string {
  const words = text.split(WORD_START).filter((word) => word !== '');
  return words
    .map((word) => {
      const [first = ''] = word;
      return first.toUpperCase() + word.slice(first.length).toLowerCase();
    })
    .join('');
}

function indent(value: Value, width: Value, first: boolean, blank: boolean, run: Run): Str {
  if (value instanceof Undefined) throw new PyError('UndefinedError', value.why);
  const text = textArgument(value, 'indent');
  const by = isStr(width) ? width : ' '.repeat(Math.min(10_000, Math.max(0, wholeArgument(width, 4))));
  const lines = splitLines(concat([text, '\n']), false, run);
  run.size(lines.length * plain(by).length);
  const parts = lines.flatMap((line, i): Str[] => {
    if (i === 0) return [line];
    return [...(blank || plain(line) !== '' ? ['\n', by] : ['\n']), line];
  });
  return joined(first ? [by, ...parts] : parts, run);
}

function truncate(value: Value, size: number, kill: boolean, end: Str, leeway: number, run: Run): Str {
  const text = textArgument(value, 'truncate');
  const room = size - lengthOf(end);
  if (room < 0) throw new PyError('ValueError', `expected length >= ${lengthOf(end)}, got ${size}`);
  if (lengthOf(text) <= size + leeway) return text;
  const start = sliced(text, { start: null, stop: BigInt(room), step: null }, run) as Str;
  const at = plain(start).lastIndexOf(' ');
  return concat([
    kill || at < 0
      ? start
      : (sliced(start, { start: null, stop: BigInt(lengthOf(plain(start).slice(0, at))), step: null }, run) as Str),
    end,
  ]);
}

function round(value: Value, precision: Value, how: string, run: Run): Value {
  if (!['common', 'ceil', 'floor'].includes(how)) typeError('method must be common, ceil or floor');
  if (value instanceof Undefined) return refuse('round of an undefined value');
  if (!isNumber(value)) return typeError("a value that isn't a number can't be rounded");
  const digits = wholeArgument(precision, 0);
  if (how === 'common') {
    const whole = wholeOf(value);
    if (whole === null) return rounded(floatOf(value), digits);
    return digits >= 0 ? whole : roundedWhole(whole, digits);
  }
  if (digits < 0) return refuse('ceil and floor to tens');
  const power = 10n ** BigInt(Math.min(digits, 400));
  const scaled = arithmetic('*', value, power, run);
  const whole = wholeOf(scaled) ?? BigInt(how === 'ceil' ? Math.ceil(scaled as number) : Math.floor(scaled as number));
  return arithmetic('/', whole, power, run);
}

function roundedWhole(value: bigint, digits: number): bigint {
  const unit = 10n ** BigInt(Math.min(-digits, 5000));
  const rest = ((value % unit) + unit) % unit;
  const low = value - rest;
  const up = rest * 2n > unit || (rest * 2n === unit && (low / unit) % 2n !== 0n);
  return up ? low + unit : low;
}

function fileSize(value: Value, binary: boolean): string {
  const bytes = floatNumber(value);
  if (!Number.isFinite(bytes)) return refuse('the size of a file that is not finite');
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const names = [...'kMGTPEZY'].map((letter) => (binary ? `${letter.toUpperCase()}iB` : `${letter}B`));
  const at = names.findIndex((_, i) => bytes < base ** (i + 2));
  const i = at < 0 ? names.length - 1 : at;
  return `${fixed((base * bytes) / base ** (i + 2), 1)} ${names[i]}`;
}

function percentEncoded(value: Value, query: boolean, run: Run): Str {
  const given = toText(value, run);
  run.size(6 * plain(given).length);
  const text = mapText(given, (part) =>
    encodeURIComponent(part).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
  );
  return mapText(text, (part) => (query ? part.replaceAll('%20', '+') : part.replaceAll('%2F', '/')));
}

function urlEncoded(value: Value, run: Run): Str {
  if (isStr(value) || isNumber(value) || value === null || value instanceof Undefined)
    return percentEncoded(value, false, run);
  const pairs = value instanceof PyDict ? [...value.entries()] : itemsOf(value, run).map((pair) => itemsOf(pair, run));
  if (pairs.some((pair) => pair.length !== 2)) typeError('urlencode needs pairs');
  const parts = pairs.map(([key = null, own = null]) =>
    concat([percentEncoded(key, true, run), '=', percentEncoded(own, true, run)]),
  );
  return joined(
    parts.flatMap((part, i) => (i === 0 ? [part] : ['&', part])),
    run,
  );
}

function countWords(text: string, run: Run): bigint {
  run.size(8 * text.length);
  return BigInt(text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0);
}

/** `text|format(…)`. */
export function formatFilter(value: Value, args: readonly Value[], named: Named, run: Run): Str {
  if (args.length > 0 && named.size > 0) typeError("can't handle positional and keyword arguments at the same time");
  return formatPercent(textOf(value, run), named.size > 0 ? new PyDict(named) : new PyTuple(args), run);
}

function join(value: Value, between: Str, path: Value, run: Run, read: (item: Value) => Value): Str {
  const texts = itemsOf(value, run).map((item) => toText(path === null ? item : read(item), run));
  return joined(
    texts.flatMap((text, i) => (i === 0 ? [text] : [between, text])),
    run,
  );
}

export function joinFilter(getter: (path: Value, run: Run) => (item: Value) => Value): Filter {
  return {
    params: 'd? attribute?',
    call: (value, [between = '', path = null], run) => join(value, toText(between, run), path, run, getter(path, run)),
  };
}

const LENGTH: Filter = {
  params: '',
  call: (value, _, run) => {
    if (isStr(value)) run.read(plain(value).length);
    return BigInt(length(value));
  },
};

export const TEXT_FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['upper', mapped((text) => text.toUpperCase())],
  ['lower', mapped((text) => text.toLowerCase())],
  ['title', mapped(titled, 10)],
  ['capitalize', { params: '', call: (value, _, run) => capitalized(textOf(value, run)) }],
  [
    'trim',
    {
      params: 'chars?',
      call: (value, [chars = null], run) => {
        const text = textOf(value, run);
        run.size(plain(text).length);
        return stripped(text, chars === null ? null : plain(textArgument(chars, 'trim')), true, true);
      },
    },
  ],
  [
    'center',
    { params: 'width?', call: (value, [width], run) => centered(textOf(value, run), wholeArgument(width, 80), run) },
  ],
  ['string', { params: '', call: (value, _, run) => (value instanceof Escaped ? value : toText(value, run)) }],
  ['e', { params: '', call: (value, _, run) => (value instanceof Escaped ? value : escaped(value, run)) }],
  ['escape', { params: '', call: (value, _, run) => (value instanceof Escaped ? value : escaped(value, run)) }],
  ['forceescape', { params: '', call: (value, _, run) => escaped(value, run) }],
  ['safe', { params: '', call: (value, _, run) => new Escaped(toText(value, run)) }],
  [
    'replace',
    {
      params: 'old new count?',
      call: (value, [old = null, by = null, count], run) =>
        replace(toText(value, run), toText(old, run), toText(by, run), wholeArgument(count ?? undefined, -1), run),
    },
  ],
  [
    'indent',
    {
      params: 'width? first? blank?',
      call: (value, [width = 4n, first = false, blank = false], run) =>
        indent(value, width, isTrue(first), isTrue(blank), run),
    },
  ],
  [
    'truncate',
    {
      params: 'length? killwords? end? leeway?',
      call: (value, [size, kill = false, end = '...', leeway], run) =>
        truncate(
          value,
          wholeArgument(size, 255),
          isTrue(kill),
          textArgument(end, 'truncate'),
          wholeArgument(leeway ?? undefined, 5),
          run,
        ),
    },
  ],
  ['wordcount', { params: '', call: (value, _, run) => countWords(plain(textOf(value, run)), run) }],
  [
    'int',
    {
      params: 'default? base?',
      call: (value, [otherwise = 0n, base]) => wholeNumber(value, wholeArgument(base, 10)) ?? otherwise,
    },
  ],
  ['float', { params: 'default?', call: (value, [otherwise = 0]) => orDefault(() => floatNumber(value), otherwise) }],
  [
    'round',
    {
      params: 'precision? method?',
      call: (value, [precision = 0n, how = 'common'], run) =>
        round(value, precision, plain(textArgument(how, 'round')), run),
    },
  ],
  ['abs', { params: '', call: (value, _, run) => absolute(value, run) }],
  ['filesizeformat', { params: 'binary?', call: (value, [binary = false]) => fileSize(value, isTrue(binary)) }],
  ['urlencode', { params: '', call: (value, _, run) => urlEncoded(value, run) }],
  [
    'tojson',
    {
      params: 'ensure_ascii? indent? separators? sort_keys?',
      call: (value, [ascii = false, by = null, separators = null, sorted = false], run) =>
        toJson(value, jsonOptions(by, separators, isTrue(ascii), isTrue(sorted)), run),
    },
  ],
  ['default', { params: 'default_value? boolean?', call: defaulted }],
  ['d', { params: 'default_value? boolean?', call: defaulted }],
  ['length', LENGTH],
  ['count', LENGTH],
  [
    'attr',
    {
      params: 'name',
      call: (value, [name = null], run) => {
        const found = value instanceof PyDict ? attribute(new PyDict(), plain(textArgument(name, 'attr')), run) : null;
        if (found instanceof Undefined) return found;
        return attribute(value, plain(textArgument(name, 'attr')), run);
      },
    },
  ],
]);

function defaulted(value: Value, [otherwise = '', boolean = false]: readonly (Value | undefined)[]): Value {
  return value instanceof Undefined || (isTrue(boolean) && !isTrue(value)) ? otherwise : value;
}

function absolute(value: Value, run: Run): Value {
  if (typeof value === 'number') return Math.abs(value);
  const whole = wholeOf(value) ?? typeError('bad operand type for abs()');
  run.step();
  return whole < 0n ? -whole : whole;
}

/** The value, or another one where Python raises an error that the filter catches. */
function orDefault(compute: () => Value, otherwise: Value): Value {
  try {
    return compute();
  } catch (error) {
    if (error instanceof PyError && (error.kind === 'TypeError' || error.kind === 'ValueError')) return otherwise;
    throw error;
  }
}
