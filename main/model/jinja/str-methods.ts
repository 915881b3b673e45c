/** The methods of Python's str. */
import { PyError, refuse, typeError } from './errors.ts';
import { itemsOf } from './iterate.ts';
import { joined } from './print.ts';
import type { Run } from './run.ts';
import { type Builtin, type Given, textArgument, wholeArgument } from './signature.ts';
import { replace, rsplit, split, splitLines, stripped } from './str-split.ts';
import { charactersOf, concat, isStr, lengthOf, mapText, plain, pointsOf, type Str, slice } from './text.ts';
import { CHARACTER_TESTS, titleCase, titleOf } from './unicode.ts';
import { PyList, PyTuple, typeName, type Value } from './values.ts';

type Method = Builtin<Str>;

const optional = (value: Value | undefined, name: string): Str | null =>
  value === undefined || value === null ? null : textArgument(value, name);

function strip(name: string, left: boolean, right: boolean): Method {
  return {
    params: 'chars? /',
    call: (self, [chars], run) => {
      run.read(plain(self).length);
      const wanted = optional(chars, name);
      return stripped(self, wanted === null ? null : plain(wanted), left, right);
    },
  };
}

/** Start and end of a search in UTF-16 units, as slices of Python give them; null where the start is behind the end. */
function rangeOf(self: Str, start: Value | undefined, end: Value | undefined): readonly [number, number] | null {
  const length = lengthOf(self);
  const points = pointsOf(plain(self));
  const at = (value: Value | undefined, otherwise: number): number => {
    const given = wholeArgument(value ?? undefined, otherwise);
    return given < 0 ? Math.max(0, given + length) : given;
  };
  const [from, to] = [at(start, 0), Math.min(length, at(end, length))];
  if (from > length || from > to) return null;
  return [points?.[from] ?? from, points?.[to] ?? to];
}

function find(name: string, last: boolean, fails: boolean): Method {
  return {
    params: 'sub start? end? /',
    call: (self, [sub, start, end], run) => {
      run.read(plain(self).length);
      const wanted = plain(textArgument(sub, name));
      const range = rangeOf(self, start, end);
      const inside = plain(self).slice(0, range?.[1]);
      const from = range?.[0] ?? 0;
      const found = last ? inside.lastIndexOf(wanted) : inside.indexOf(wanted, from);
      if (range !== null && found >= from) return BigInt(lengthOf(plain(self).slice(0, found)));
      return fails ? valueError('substring not found') : -1n;
    },
  };
}

function count(self: Str, [sub, start, end]: Given, run: Run): Value {
  run.read(plain(self).length);
  const wanted = textArgument(sub, 'count');
  const range = rangeOf(self, start, end);
  if (range === null) return 0n;
  const inside = slice(self, ...range);
  if (plain(wanted) === '') return BigInt(lengthOf(inside) + 1);
  return BigInt(plain(inside).split(plain(wanted)).length - 1);
}

function edge(name: string, holds: (text: string, part: string) => boolean): Method {
  return {
    params: 'part start? end? /',
    call: (self, [part, start, end]) => {
      const range = rangeOf(self, start, end);
      const options = part instanceof PyTuple ? part.items : [part];
      const texts = options.map((option) => plain(textArgument(option, name)));
      return range !== null && texts.some((text) => holds(plain(self).slice(...range), text));
    },
  };
}

function splitting(name: string, by: typeof split): Method {
  return {
    params: '/ sep? maxsplit?',
    call: (self, [separator, most], run) =>
      new PyList(by(self, optional(separator, name), wholeArgument(most, -1), run)),
  };
}

function partition(name: string, last: boolean): Method {
  return {
    params: 'sep /',
    call: (self, [given], run) => {
      run.read(plain(self).length);
      const separator = textArgument(given, name);
      if (plain(separator) === '') return valueError('empty separator');
      const whole = plain(self);
      const at = last ? whole.lastIndexOf(plain(separator)) : whole.indexOf(plain(separator));
      if (at < 0) return new PyTuple(last ? ['', '', self] : [self, '', '']);
      return new PyTuple([slice(self, 0, at), separator, slice(self, at + plain(separator).length)]);
    },
  };
}

function justify(name: string, left: (missing: number, width: number) => number): Method {
  return {
    params: 'width fillchar? /',
    call: (self, [width, fill], run) => padded(self, wholeArgument(width, 0), fill ?? ' ', name, left, run),
  };
}

function padded(
  self: Str,
  width: number,
  fill: Value,
  name: string,
  left: (missing: number, width: number) => number,
  run: Run,
): Str {
  const character = textArgument(fill, name);
  if (lengthOf(character) !== 1) return typeError('The fill character must be exactly one character long');
  const missing = width - lengthOf(self);
  if (missing <= 0) return self;
  run.size(missing + plain(self).length);
  const before = left(missing, width);
  const fills = (times: number): Str => (isStr(fill) ? concat(Array.from({ length: times }, () => character)) : '');
  return concat([fills(before), self, fills(missing - before)]);
}

/** Python's str.center puts the odd one to the left in odd widths. */
export function centered(self: Str, width: number, run: Run, fill: Value = ' '): Str {
  return padded(self, width, fill, 'center', (missing, wide) => Math.floor(missing / 2) + (missing & wide & 1), run);
}

export function capitalized(self: Str): Str {
  const first = slice(
    self,
    0,
    plain(self).codePointAt(0) === undefined ? 0 : String.fromCodePoint(plain(self).codePointAt(0) ?? 0).length,
  );
  const lower = mapText(self, (text) =>
    first === '' ? '' : `${plain(first)}${text.toLowerCase().slice(plain(first).toLowerCase().length)}`,
  );
  return concat([mapText(first, titled), slice(lower, plain(first).length)]);
}

function titled(character: string): string {
  return character === '' ? '' : (titleOf(character) ?? refuse(`a capital of ${JSON.stringify(character)}`));
}

function zfill(self: Str, [width]: Given, run: Run): Value {
  const missing = wholeArgument(width, 0) - lengthOf(self);
  if (missing <= 0) return self;
  run.size(missing);
  const sign = /^[-+]/.test(plain(self)) ? 1 : 0;
  return concat([slice(self, 0, sign), '0'.repeat(missing), slice(self, sign)]);
}

function expandTabs(self: Str, [size]: Given, run: Run): Value {
  const width = wholeArgument(size, 8);
  let column = 0;
  const parts = charactersOf(self).map((character): Str => {
    const text = plain(character);
    if (text === '\t') {
      const spaces = width > 0 ? width - (column % width) : 0;
      run.size(spaces);
      column += spaces;
      return ' '.repeat(spaces);
    }
    column = text === '\n' || text === '\r' ? 0 : column + 1;
    return character;
  });
  return concat(parts);
}

function joinedTexts(self: Str, items: readonly Value[], run: Run): Str {
  const texts = items.map((item, i) =>
    isStr(item) ? item : typeError(`sequence item ${i}: expected str instance, ${typeName(item)} found`),
  );
  return joined(
    texts.flatMap((text, i) => (i === 0 ? [text] : [self, text])),
    run,
  );
}

function mapped(change: (text: string) => string): Method {
  return {
    params: '',
    call: (self, _, run) => {
      run.size(2 * plain(self).length);
      return mapText(self, change);
    },
  };
}

function refused(name: string): Method {
  return { params: '', call: () => refuse(`str.${name}()`) };
}

function valueError(message: string): never {
  throw new PyError('ValueError', message);
}

const TESTS = Object.entries(CHARACTER_TESTS).map(([name, test]): readonly [string, Method] => [
  name,
  {
    params: '',
    call: (self, _, run) => {
      run.read(plain(self).length);
      if (plain(self) === '') return name === 'isascii' || name === 'isprintable';
      return test(plain(self));
    },
  },
]);

const numeric: Method = {
  params: '',
  call: (self) =>
    /\p{Script=Han}/u.test(plain(self)) ? refuse('isnumeric() of a Chinese character') : /^\p{N}+$/u.test(plain(self)),
};

const swapped = (text: string): string => {
  const lower = [...text.toLowerCase()];
  const all = [...text];
  if (lower.length !== all.length) refuse(`swapcase() of ${JSON.stringify(text.slice(0, 40))}`);
  return all.map((one, i) => (/\p{Uppercase}/u.test(one) ? lower[i] : one.toUpperCase())).join('');
};

const titleMethod = (text: string): string =>
  titleCase(text) ?? refuse(`a title of ${JSON.stringify(text.slice(0, 40))}`);

/** All of them but format and format_map, which read attributes. */
export const STR_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['strip', strip('strip', true, true)],
  ['lstrip', strip('lstrip', true, false)],
  ['rstrip', strip('rstrip', false, true)],
  ['find', find('find', false, false)],
  ['rfind', find('rfind', true, false)],
  ['index', find('index', false, true)],
  ['rindex', find('rindex', true, true)],
  ['count', { params: 'sub start? end? /', call: count }],
  ['startswith', edge('startswith', (text, part) => text.startsWith(part))],
  ['endswith', edge('endswith', (text, part) => text.endsWith(part))],
  ['split', splitting('split', split)],
  ['rsplit', splitting('rsplit', rsplit)],
  [
    'splitlines',
    {
      params: '/ keepends?',
      call: (self, [keep], run) => new PyList(splitLines(self, wholeArgument(keep, 0) !== 0, run)),
    },
  ],
  ['partition', partition('partition', false)],
  ['rpartition', partition('rpartition', true)],
  [
    'replace',
    {
      params: 'old new count? /',
      call: (self, [old, by, most], run) =>
        replace(self, textArgument(old, 'replace'), textArgument(by, 'replace'), wholeArgument(most, -1), run),
    },
  ],
  ['join', { params: 'iterable /', call: (self, [items], run) => joinedTexts(self, itemsOf(items ?? null, run), run) }],
  ['upper', mapped((text) => text.toUpperCase())],
  ['lower', mapped((text) => text.toLowerCase())],
  ['title', mapped(titleMethod)],
  ['swapcase', mapped(swapped)],
  ['capitalize', { params: '', call: (self) => capitalized(self) }],
  [
    'center',
    {
      params: 'width fillchar? /',
      call: (self, [width, fill], run) => centered(self, wholeArgument(width, 0), run, fill ?? ' '),
    },
  ],
  ['ljust', justify('ljust', () => 0)],
  ['rjust', justify('rjust', (missing) => missing)],
  ['zfill', { params: 'width /', call: zfill }],
  ['expandtabs', { params: '/ tabsize?', call: expandTabs }],
  [
    'removeprefix',
    {
      params: 'prefix /',
      call: (self, [part]) => {
        const prefix = plain(textArgument(part, 'removeprefix'));
        return plain(self).startsWith(prefix) ? slice(self, prefix.length) : self;
      },
    },
  ],
  [
    'removesuffix',
    {
      params: 'suffix /',
      call: (self, [part]) => {
        const suffix = plain(textArgument(part, 'removesuffix'));
        return suffix !== '' && plain(self).endsWith(suffix)
          ? slice(self, 0, -suffix.length + plain(self).length)
          : self;
      },
    },
  ],
  ['isnumeric', numeric],
  ...TESTS,
  ...['casefold', 'encode', 'translate', 'maketrans'].map((name) => [name, refused(name)] as const),
]);
