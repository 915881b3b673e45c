/** Attributes and items of values, as Jinja's sandbox gives them: `a.b`, `a['b']`, and the methods behind them. */
import { equals, wholeOf } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { type Access, formatFields } from './format-fields.ts';
import { type Slice, sliced } from './operators.ts';
import { repr } from './print.ts';
import type { Run } from './run.ts';
import { type Builtin, bind, wholeArgument } from './signature.ts';
import { STR_METHODS } from './str-methods.ts';
import { isStr, lengthOf, plain, pointsOf, type Str, slice as sliceText } from './text.ts';
import {
  Escaped,
  isObject,
  type Named,
  PyDict,
  PyFunction,
  PyList,
  PyRange,
  PyTuple,
  PyView,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** `of.name`: an attribute before an item. */
export function attribute(of: Value, name: string, run: Run): Value {
  const found = attributeOf(of, name, run);
  if (found !== undefined) return found;
  const own = of instanceof PyDict ? of.get(name) : undefined;
  return own === undefined ? missing(of, name, run) : own;
}

/** `of[key]`: an item before an attribute. */
export function item(of: Value, key: Value, run: Run): Value {
  if (of instanceof Undefined) throw new PyError('UndefinedError', of.why);
  const found = itemOf(of, key, run);
  if (found !== undefined) return found;
  const own = isStr(key) ? attributeOf(of, plain(key), run) : undefined;
  return own === undefined ? missing(of, key, run) : own;
}

/** `of[start:stop:step]`. */
export function part(of: Value, slice: Slice, run: Run): Value {
  if (of instanceof Undefined) throw new PyError('UndefinedError', of.why);
  if (of instanceof Escaped) return refuse('a slice of an escaped text');
  return sliced(of, slice, run) ?? typeError(`a slice of a value of type ${typeName(of)}`);
}

function missing(of: Value, key: Value, run: Run): Undefined {
  return new Undefined(`'${typeName(of)} object' has no attribute ${plain(repr(key, run)).slice(0, 100)}`);
}

function itemOf(of: Value, key: Value, run: Run): Value | undefined {
  if (of instanceof PyDict) return of.get(key);
  const index = wholeOf(key);
  if (index === null) return undefined;
  if (of instanceof Escaped) return refuse('a character of an escaped text');
  const length = isStr(of)
    ? lengthOf(of)
    : of instanceof PyRange
      ? of.length
      : of instanceof PyList || of instanceof PyTuple
        ? of.items.length
        : 0;
  const at = index < 0n ? index + BigInt(length) : index;
  if (at < 0n || at >= BigInt(length)) return undefined;
  const place = Number(at);
  if (isStr(of)) {
    run.size(plain(of).length);
    const points = pointsOf(plain(of));
    return sliceText(of, points?.[place] ?? place, points?.[place + 1] ?? place + 1);
  }
  if (of instanceof PyRange) return of.at(place);
  return of instanceof PyList || of instanceof PyTuple ? of.items[place] : undefined;
}

/** What `getattr` finds; undefined: nothing, so that the item of that name is tried. */
function attributeOf(of: Value, name: string, run: Run): Value | undefined {
  if (of instanceof Undefined) throw new PyError('UndefinedError', of.why);
  if (name.startsWith('__')) return refuse(`the attribute "${name}"`);
  if (isObject(of))
    return name.startsWith('_') && of.kind !== 'namespace' ? refuse(`the attribute "${name}"`) : of.attribute(name);
  if (of instanceof PyFunction) {
    if (of.attributes[name] !== undefined) return of.attributes[name];
    return of.isMacro && MACRO_ATTRIBUTES.has(name) ? refuse(`the attribute "${name}" of a macro`) : undefined;
  }
  if (of instanceof Escaped) return refuse(`the attribute "${name}" of an escaped text`);
  if (of instanceof PyTuple && of.fields.includes(name)) return of.items[of.fields.indexOf(name)];
  if (isStr(of)) {
    if (name === 'format') return method(name, (args, named) => formatted(of, args, named, run));
    if (name === 'format_map') return method(name, (args) => formatted(of, [], mappingOf(args[0] ?? null), run));
    return bound(of, name, STR_METHODS.get(name));
  }
  if (of instanceof PyDict) return MUTATING_DICT.has(name) ? unsafe(of, name) : bound(of, name, DICT_METHODS.get(name));
  if (of instanceof PyList || of instanceof PyTuple) {
    if (of instanceof PyList && MUTATING_LIST.has(name)) return unsafe(of, name);
    if (of instanceof PyTuple && name === 'copy') return undefined;
    return bound(of, name, SEQUENCE_METHODS.get(name));
  }
  return OTHER_ATTRIBUTES[typeName(of)]?.includes(name) === true
    ? refuse(`the attribute "${name}" of a value of type ${typeName(of)}`)
    : undefined;
}

function unsafe(of: Value, name: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${typeName(of)}' object is unsafe.`);
}

function method(name: string, call: PyFunction['call']): PyFunction {
  return new PyFunction(name, call);
}

function bound<Self extends Value>(self: Self, name: string, builtin: Builtin<Self> | undefined): Value | undefined {
  if (builtin === undefined) return undefined;
  return method(name, (args, named, run) => builtin.call(self, bind(name, builtin.params, args, named), run));
}

function formatted(text: Str, args: readonly Value[], named: Named, run: Run): Str {
  const access: Access = {
    attribute: (of, name) => attribute(of, name, run),
    item: (of, key) => item(of, key, run),
    value: (key) => {
      const value = typeof key === 'number' ? args[key] : named.get(key);
      if (value === undefined) throw new PyError('LookupError', `format() has no argument ${JSON.stringify(key)}`);
      return value;
    },
  };
  return formatFields(text, access, run);
}

function mappingOf(value: Value): Named {
  if (!(value instanceof PyDict)) return typeError('format_map() takes a mapping');
  return new Map([...value.entries()].flatMap(([key, own]) => (isStr(key) ? [[plain(key), own] as const] : [])));
}

function copied(dict: PyDict, run: Run): PyDict {
  run.items(dict.size);
  return new PyDict(dict.entries());
}

const MUTATING_DICT: ReadonlySet<string> = new Set(['clear', 'pop', 'popitem', 'setdefault', 'update']);
const MUTATING_LIST: ReadonlySet<string> = new Set([
  'append',
  'clear',
  'pop',
  'reverse',
  'insert',
  'sort',
  'extend',
  'remove',
]);

const DICT_METHODS: ReadonlyMap<string, Builtin<PyDict>> = new Map<string, Builtin<PyDict>>([
  [
    'get',
    {
      params: 'key default? /',
      call: (self, [key = null, otherwise = null]) => {
        const value = self.get(key);
        return value === undefined ? otherwise : value;
      },
    },
  ],
  ['keys', { params: '', call: (self) => new PyView('keys', self) }],
  ['values', { params: '', call: (self) => new PyView('values', self) }],
  ['items', { params: '', call: (self) => new PyView('items', self) }],
  ['copy', { params: '', call: (self, _, run) => copied(self, run) }],
  ['fromkeys', { params: 'iterable value?', call: () => refuse('dict.fromkeys()') }],
]);

const SEQUENCE_METHODS: ReadonlyMap<string, Builtin<PyList | PyTuple>> = new Map<string, Builtin<PyList | PyTuple>>([
  [
    'index',
    {
      params: 'value start? stop? /',
      call: (self, [value = null, start, stop], run) => {
        const size = self.items.length;
        const at = (given: number): number => (given < 0 ? Math.max(0, given + size) : given);
        const [from, to] = [at(wholeArgument(start, 0)), at(wholeArgument(stop, size))];
        const found = self.items.findIndex(
          (own, i) => i >= from && i < to && (own === value || equals(own, value, run)),
        );
        if (found < 0) throw new PyError('ValueError', 'the value is not in the list');
        return BigInt(found);
      },
    },
  ],
  [
    'count',
    {
      params: 'value /',
      call: (self, [value = null], run) =>
        BigInt(self.items.filter((own) => own === value || equals(own, value, run)).length),
    },
  ],
  ['copy', { params: '', call: (self) => new PyList(self.items) }],
]);

const MACRO_ATTRIBUTES: ReadonlySet<string> = new Set([
  'arguments',
  'catch_kwargs',
  'catch_varargs',
  'caller',
  'explicit_caller',
]);
const INT = [
  'real',
  'imag',
  'numerator',
  'denominator',
  'bit_length',
  'bit_count',
  'conjugate',
  'to_bytes',
  'from_bytes',
  'as_integer_ratio',
  'is_integer',
];
/** Attributes that Python's values have and these haven't. */
const OTHER_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  int: INT,
  bool: INT,
  range: ['start', 'stop', 'step', 'index', 'count'],
  float: ['real', 'imag', 'hex', 'fromhex', 'conjugate', 'as_integer_ratio', 'is_integer'],
  dict_keys: ['mapping', 'isdisjoint'],
  dict_values: ['mapping'],
  dict_items: ['mapping', 'isdisjoint'],
  generator: ['send', 'throw', 'close', 'gi_frame', 'gi_running', 'gi_code', 'gi_yieldfrom', 'gi_suspended'],
};
