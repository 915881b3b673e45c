/** Every filter and test by name, and what of Jinja2's isn't here. */
import { PyError, refuse } from './errors.ts';
import { type ByName, getter, LIST_FILTERS, mapFilter, selectFilter } from './filters-lists.ts';
import { formatFilter, joinFilter, TEXT_FILTERS } from './filters-text.ts';
import type { Run } from './run.ts';
import { type Builtin, bind } from './signature.ts';
import { TESTS } from './tests.ts';
import { isStr, plain } from './text.ts';
import { Escaped, keyOf, type Named, type Value } from './values.ts';

type Call = (value: Value, args: readonly Value[], named: Named, run: Run) => Value;

/** Filters that chats don't need and that depend on chance, on HTML or on Python's own layout. */
const REFUSED_FILTERS = ['pprint', 'random', 'striptags', 'urlize', 'wordwrap', 'xmlattr'];

const byName: ByName = {
  filter: (name, value, args, named, run) => filterOf(name)(value, args, named, run),
  test: (name, value, args, named, run) => testOf(name)(value, args, named, run),
};

function builtin(name: string, { params, call }: Builtin<Value>): Call {
  return (value, args, named, run) => call(value, bind(name, params, args, named), run);
}

const FILTERS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ...[...TEXT_FILTERS, ...LIST_FILTERS].map(([name, filter]) => [name, builtin(name, filter)] as const),
  [
    'join',
    builtin(
      'join',
      joinFilter((path, run) => getter(path, run)),
    ),
  ],
  ['format', formatFilter],
  ['map', (value, args, named, run) => mapFilter(byName, value, args, named, run)],
  ['select', selectFilter(byName, true, false)],
  ['reject', selectFilter(byName, false, false)],
  ['selectattr', selectFilter(byName, true, true)],
  ['rejectattr', selectFilter(byName, false, true)],
  ...REFUSED_FILTERS.map((name) => [name, () => refuse(`the filter "${name}"`)] as const),
]);

export function hasFilter(name: string): boolean {
  return FILTERS.has(name);
}

export function hasTest(name: string): boolean {
  return TESTS.has(name) || name === 'filter' || name === 'test';
}

export function filterOf(name: string): Call {
  return FILTERS.get(name) ?? unknown('filter', name);
}

export function testOf(name: string): (value: Value, args: readonly Value[], named: Named, run: Run) => boolean {
  const known = name === 'filter' ? hasFilter : name === 'test' ? hasTest : null;
  if (known !== null)
    return (value) =>
      keyOf(value) !== '' && known(plain(value instanceof Escaped ? value.text : isStr(value) ? value : ''));
  const { params, holds } = TESTS.get(name) ?? unknown('test', name);
  return (value, args, named, run) => holds(value, bind(name, params, args, named)[0] ?? null, run);
}

function unknown(kind: string, name: string): never {
  throw new PyError('TemplateError', `No ${kind} named '${name}'`);
}
