/** Functions and objects that every template has: range, dict, namespace, cycler, joiner. */
import { wholeOf } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { itemsOf } from './iterate.ts';
import { joined, repr, toText } from './print.ts';
import type { Run } from './run.ts';
import { bind } from './signature.ts';
import { plain } from './text.ts';
import { type Named, PyDict, PyFunction, type PyObject, PyRange, typeName, Undefined, type Value } from './values.ts';

/** The sandbox of Jinja2 allows no longer ones. */
const LONGEST_RANGE = 100_000;

function range(args: readonly Value[]): Value {
  const numbers = args.map(
    (value) => wholeOf(value) ?? typeError(`'${typeName(value)}' object cannot be interpreted as an integer`),
  );
  if (numbers.length < 1 || numbers.length > 3) typeError(`range expected 1 to 3 arguments, got ${numbers.length}`);
  const [first = 0n, second, step = 1n] = numbers;
  if (step === 0n) throw new PyError('ValueError', 'range() arg 3 must not be zero');
  const made = second === undefined ? new PyRange(0n, first, 1n) : new PyRange(first, second, step);
  if (made.length <= LONGEST_RANGE) return made;
  throw new PyError('OverflowError', `it asks for a range of ${made.length} numbers, at most ${LONGEST_RANGE}`);
}

function dict(args: readonly Value[], named: Named, run: Run): PyDict {
  const [from] = args;
  if (args.length > 1) typeError(`dict expected at most 1 argument, got ${args.length}`);
  const entries: (readonly [Value, Value])[] = [];
  if (from instanceof Undefined) throw new PyError('UndefinedError', from.why);
  if (from instanceof PyDict) for (const entry of from.entries()) entries.push(entry);
  else if (from !== undefined)
    for (const pair of itemsOf(from, run)) {
      const [key, value, more] = itemsOf(pair, run);
      if (key === undefined || value === undefined || more !== undefined) typeError('dict needs pairs');
      entries.push([key ?? null, value ?? null]);
    }
  for (const [key, value] of named) entries.push([key, value]);
  run.items(4 * entries.length);
  return new PyDict(entries);
}

/** An object whose attributes `{% set ns.a = … %}` sets. */
export class Namespace implements PyObject {
  readonly kind = 'namespace';
  readonly #attributes: PyDict;
  constructor(attributes: PyDict) {
    this.#attributes = attributes;
  }
  attribute(name: string): Value | undefined {
    return this.#attributes.get(name);
  }
  set(name: string, value: Value): void {
    this.#attributes.set(name, value);
  }
  print(run: Run) {
    return joined(['<Namespace ', repr(this.#attributes, run), '>'], run);
  }
}

function cycler(items: readonly Value[]): PyObject {
  if (items.length === 0) typeError('at least one item has to be provided');
  let at = 0;
  const next = new PyFunction('next', () => {
    at += 1;
    return items[(at - 1) % items.length] ?? null;
  });
  const reset = new PyFunction('reset', () => {
    at = 0;
    return null;
  });
  return {
    kind: 'cycler',
    print: () => null,
    attribute: (name) => {
      if (name === 'current') return items[at % items.length] ?? null;
      if (name === 'next') return next;
      if (name === 'reset') return reset;
      return name === 'items' || name === 'pos' ? refuse(`"${name}" of a cycler`) : undefined;
    },
  };
}

function joiner(args: readonly Value[], named: Named): PyFunction {
  const [separator = ', '] = bind('joiner', 'sep?', args, named);
  let used = false;
  return new PyFunction('joiner', () => {
    const text = used ? separator : '';
    used = true;
    return text;
  });
}

export const GLOBALS: ReadonlyMap<string, Value> = new Map<string, Value>([
  [
    'range',
    new PyFunction('range', (args, named) =>
      named.size > 0 ? typeError('range() takes no keyword arguments') : range(args),
    ),
  ],
  ['dict', new PyFunction('dict', dict)],
  ['namespace', new PyFunction('namespace', (args, named, run) => namespace(args, named, run))],
  ['cycler', new PyFunction('cycler', (args) => cycler(args))],
  ['joiner', new PyFunction('joiner', joiner)],
  ['lipsum', new PyFunction('lipsum', () => refuse('lipsum(), which is made by chance,'))],
  [
    'raise_exception',
    new PyFunction('raise_exception', (args, named, run) => {
      const [message = ''] = bind('raise_exception', 'message', args, named);
      throw new PyError('TemplateError', plain(toText(message, run)));
    }),
  ],
]);

function namespace(args: readonly Value[], named: Named, run: Run): Namespace {
  return new Namespace(dict(args, named, run));
}
