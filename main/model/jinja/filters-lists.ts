/** Jinja's filters of lists and other iterables. After jinja2/filters.py. */
import { item } from './attributes.ts';
import { equals, isOrdered, sortedBy } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { isTrue, itemsOf, iterate } from './iterate.ts';
import { arithmetic } from './operators.ts';
import type { Run } from './run.ts';
import { type Builtin, textArgument, wholeArgument } from './signature.ts';
import { charactersOf, concat, isStr, mapText, plain } from './text.ts';
import {
  Escaped,
  keyOf,
  type Named,
  PyDict,
  PyIterator,
  PyList,
  PyTuple,
  PyView,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

type Filter = Builtin<Value>;
type Read = (item: Value) => Value;

/** Reads `a.b.0` of an item, as `attribute=` asks for. */
export function getter(path: Value, run: Run, otherwise: Value = null, ignoreCase = false): Read {
  const parts = partsOf(path);
  return (start) => {
    run.step();
    const found = parts.reduce((of: Value, key) => {
      const next = item(of, key, run);
      return otherwise !== null && next instanceof Undefined ? otherwise : next;
    }, start);
    return ignoreCase && isStr(found) ? mapText(found, (text) => text.toLowerCase()) : found;
  };
}

function partsOf(path: Value): readonly Value[] {
  if (path === null) return [];
  if (!isStr(path)) return [path];
  return plain(path)
    .split('.')
    .map((part) => (/^\p{Nd}+$/u.test(part) ? BigInt(part) : part));
}

/** Several paths with commas between them, as sort takes them. */
function getters(path: Value, run: Run, ignoreCase: boolean): Read {
  const paths: readonly Value[] = isStr(path) ? plain(path).split(',') : [path];
  const reads = paths.map((one) => getter(one, run, null, ignoreCase));
  return (of) => new PyList(reads.map((read) => read(of)));
}

function generator(items: Iterator<Value>): PyIterator {
  return new PyIterator('generator', items);
}

function* each(value: Value, run: Run): Iterable<Value> {
  const items = iterate(value, run);
  for (let next = items.next(); next.done !== true; next = items.next()) {
    run.step();
    yield next.value;
  }
}

/** How filters call other filters and tests by name. */
export interface ByName {
  filter(name: string, value: Value, args: readonly Value[], named: Named, run: Run): Value;
  test(name: string, value: Value, args: readonly Value[], named: Named, run: Run): boolean;
}

export function mapFilter(byName: ByName, value: Value, args: readonly Value[], named: Named, run: Run): Value {
  return generator(
    (function* () {
      if (!isTrue(value)) return;
      let read: Read;
      if (args.length === 0 && named.has('attribute')) {
        const unknown = [...named.keys()].find((key) => key !== 'attribute' && key !== 'default');
        if (unknown !== undefined) typeError(`Unexpected keyword argument '${unknown}'`);
        read = getter(named.get('attribute') ?? null, run, named.get('default') ?? null);
      } else {
        const [name, ...rest] = args;
        if (name === undefined) typeError('map requires a filter argument');
        read = (one) => byName.filter(plain(textArgument(name, 'map')), one, rest, named, run);
      }
      for (const one of each(value, run)) yield read(one);
    })(),
  );
}

/** select, reject, selectattr and rejectattr. */
export function selectFilter(byName: ByName, wanted: boolean, byAttribute: boolean) {
  return (value: Value, args: readonly Value[], named: Named, run: Run): Value =>
    generator(
      (function* () {
        if (!isTrue(value)) return;
        if (byAttribute && args.length === 0) typeError('Missing parameter for attribute name');
        const read: Read = byAttribute ? getter(args[0] ?? null, run) : (one) => one;
        const [name, ...rest] = byAttribute ? args.slice(1) : args;
        const holds = (one: Value): boolean =>
          name === undefined ? isTrue(one) : byName.test(plain(textArgument(name, 'select')), one, rest, named, run);
        for (const one of each(value, run)) if (holds(read(one)) === wanted) yield one;
      })(),
    );
}

function* uniqueItems(value: Value, read: Read, run: Run): Iterator<Value> {
  const seen = new Set<string>();
  for (const one of each(value, run)) {
    const key = keyOf(read(one));
    if (seen.has(key)) continue;
    seen.add(key);
    yield one;
  }
}

function* batches(value: Value, size: Value, fill: Value, run: Run): Iterator<Value> {
  const count = wholeArgument(size, 0);
  let batch: Value[] = [];
  for (const one of each(value, run)) {
    if (batch.length === count) {
      yield new PyList(batch);
      batch = [];
    }
    run.items(1);
    batch.push(one);
  }
  if (batch.length === 0) return;
  const missing = fill === null ? 0 : Math.max(0, count - batch.length);
  run.items(missing);
  yield new PyList([...batch, ...Array.from({ length: missing }, () => fill)]);
}

function* slices(value: Value, size: Value, fill: Value, run: Run): Iterator<Value> {
  const items = itemsOf(value, run);
  const count = wholeArgument(size, 0);
  if (count === 0) throw new PyError('OverflowError', 'integer division or modulo by zero');
  const each = Math.floor(items.length / count);
  const extra = items.length - each * count;
  for (let i = 0, start = 0; i < count; i++) {
    run.step();
    const end = start + each + (i < extra ? 1 : 0);
    yield new PyList([...items.slice(start, end), ...(fill !== null && i >= extra ? [fill] : [])]);
    start = end;
  }
}

function* pairs(value: Value, run: Run): Iterator<Value> {
  if (value instanceof Undefined) return;
  if (!(value instanceof PyDict)) typeError('Can only get item pairs from a mapping.');
  yield* each(value instanceof PyDict ? new PyView('items', value) : null, run);
}

function groups(value: Value, path: Value, otherwise: Value, sensitive: boolean, run: Run): Value {
  const read = getter(path, run, otherwise, !sensitive);
  const real = getter(path, run, otherwise);
  const found: { key: Value; items: Value[] }[] = [];
  for (const one of sortedBy(itemsOf(value, run), read, false, run)) {
    const key = read(one);
    const last = found.at(-1);
    if (last !== undefined && equals(last.key, key, run)) last.items.push(one);
    else found.push({ key, items: [one] });
  }
  return new PyList(
    found.map(({ items }) => new PyTuple([real(items[0] ?? null), new PyList(items)], ['grouper', 'list'])),
  );
}

function dictSort(value: Value, sensitive: boolean, by: Value, reverse: boolean, run: Run): Value {
  if (value instanceof Undefined) throw new PyError('UndefinedError', value.why);
  if (!(value instanceof PyDict)) return typeError(`'${typeName(value)}' object has no attribute 'items'`);
  if (by !== 'key' && by !== 'value') return typeError('You can only sort by either "key" or "value"');
  const items = [...value.entries()].map((entry) => new PyTuple(entry));
  const read = getter(by === 'key' ? 0n : 1n, run, null, !sensitive);
  return new PyList(sortedBy(items, read, reverse, run));
}

function extreme(operator: '<' | '>'): Filter {
  return {
    params: 'case_sensitive? attribute?',
    call: (value, [sensitive = false, path = null], run) => {
      const read = getter(path, run, null, !isTrue(sensitive));
      let best: { value: Value; key: Value } | null = null;
      for (const one of each(value, run)) {
        const key = read(one);
        if (best === null || isOrdered(key, operator, best.key, run)) best = { value: one, key };
      }
      return best === null ? new Undefined('No aggregated item, sequence was empty.') : best.value;
    },
  };
}

function sum(value: Value, path: Value, start: Value, run: Run): Value {
  if (isStr(start)) return typeError("sum() can't sum strings [use ''.join(seq) instead]");
  const read = getter(path, run);
  let total: Value = start;
  for (const one of each(value, run)) {
    total = arithmetic('+', total, read(one), run);
    // Python sums them in a way that depends on its version.
    if (typeof total === 'number') refuse('the sum of numbers with fractions');
  }
  return total;
}

function reversed(value: Value, run: Run): Value {
  if (isStr(value)) {
    run.items(plain(value).length);
    return concat(charactersOf(value).reverse());
  }
  if (value instanceof Escaped) return refuse('this filter of an escaped text');
  const items = [...itemsOf(value, run)].reverse();
  return value instanceof PyIterator ? new PyList(items) : new PyIterator('reversed', items[Symbol.iterator]());
}

function last(value: Value, run: Run): Value {
  if (value instanceof PyIterator) return typeError(`'${typeName(value)}' object is not reversible`);
  return (
    itemsOf(value, run).at(-1) ??
    (itemsOf(value, run).length > 0 ? null : new Undefined('No last item, sequence was empty.'))
  );
}

function first(value: Value, run: Run): Value {
  const next = iterate(value, run).next();
  return next.done === true ? new Undefined('No first item, sequence was empty.') : next.value;
}

export const LIST_FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['list', { params: '', call: (value, _, run) => new PyList([...itemsOf(value, run)]) }],
  ['first', { params: '', call: (value, _, run) => first(value, run) }],
  ['last', { params: '', call: (value, _, run) => last(value, run) }],
  ['reverse', { params: '', call: (value, _, run) => reversed(value, run) }],
  ['items', { params: '', call: (value, _, run) => generator(pairs(value, run)) }],
  [
    'sort',
    {
      params: 'reverse? case_sensitive? attribute?',
      call: (value, [reverse = false, sensitive = false, path = null], run) =>
        new PyList(sortedBy(itemsOf(value, run), getters(path, run, !isTrue(sensitive)), isTrue(reverse), run)),
    },
  ],
  [
    'unique',
    {
      params: 'case_sensitive? attribute?',
      call: (value, [sensitive = false, path = null], run) =>
        generator(uniqueItems(value, getter(path, run, null, !isTrue(sensitive)), run)),
    },
  ],
  ['min', extreme('<')],
  ['max', extreme('>')],
  [
    'sum',
    { params: 'attribute? start?', call: (value, [path = null, start = 0n], run) => sum(value, path, start, run) },
  ],
  [
    'batch',
    {
      params: 'linecount fill_with?',
      call: (value, [size = 0n, fill = null], run) => generator(batches(value, size, fill, run)),
    },
  ],
  [
    'slice',
    {
      params: 'slices fill_with?',
      call: (value, [size = 0n, fill = null], run) => generator(slices(value, size, fill, run)),
    },
  ],
  [
    'groupby',
    {
      params: 'attribute default? case_sensitive?',
      call: (value, [path = null, otherwise = null, sensitive = false], run) =>
        groups(value, path, otherwise, isTrue(sensitive), run),
    },
  ],
  [
    'dictsort',
    {
      params: 'case_sensitive? by? reverse?',
      call: (value, [sensitive = false, by = 'key', reverse = false], run) =>
        dictSort(value, isTrue(sensitive), by, isTrue(reverse), run),
    },
  ],
]);
