/**
 * Jinja's template language as transformers sets Jinja2 up for chat templates, with Python's values: what is computed is
 * equal to Jinja2, or it is refused. A template is a program from anywhere, so a rendering has limits.
 */
import { compile } from './compile.ts';
import { PyError, refuse } from './errors.ts';
import { GLOBALS } from './globals.ts';
import { parse } from './parse.ts';
import { Run } from './run.ts';
import { concat, isStr, type Str } from './text.ts';
import {
  Escaped,
  isObject,
  PyDict,
  PyFunction,
  PyIterator,
  PyList,
  PyRange,
  PyTuple,
  PyView,
  Undefined,
  type Value,
} from './values.ts';

export interface Template {
  /** The names of variables that the template reads. */
  readonly reads: ReadonlySet<string>;
  render(values: Readonly<Record<string, unknown>>): Str;
}

export function parseTemplate(source: string): Template {
  const { run: execute, reads } = within(() => compile(parse(source)));
  return {
    reads: new Set([...reads].filter((name) => !GLOBALS.has(name))),
    render: (values) => {
      const run = new Run();
      return within(() => {
        const own = Object.entries(values).map(([name, value]) => [name, fromJs(value)] as const);
        const context = new Map<string, Value>([...GLOBALS, ...own]);
        const parts: Str[] = [];
        execute({ slots: [], parent: null, run, context, captured: '' }, parts);
        return concat(parts);
      }, run);
    },
  };
}

/** Errors say where the template is. */
function within<T>(compute: () => T, run?: Run): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message))
      throw new PyError('TemplateError', 'it is nested too deeply');
    if (error instanceof PyError && run !== undefined)
      throw new PyError(error.kind, `${error.message}, in line ${run.line}`);
    throw error;
  }
}

/** A value of JSON as Python reads it; whole numbers are int. `text`: what becomes of its texts, the names of values too. */
export function fromJs(value: unknown, text: (words: string) => Str = (words) => words): Value {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return new PyList(value.map((item) => fromJs(item, text)));
  if (typeof value === 'object' && !isValue(value))
    return new PyDict(
      inOrder(Object.entries(value as object)).map(([key, item]) => [text(key), fromJs(item, text)] as const),
    );
  if (isValue(value)) return value;
  return null;
}

/** JavaScript moves keys that look like numbers to the front. */
function inOrder(entries: readonly [string, unknown][]): readonly [string, unknown][] {
  return entries.length > 1 && entries.some(([key]) => /^\d+$/.test(key))
    ? refuse('a number as the name of a value')
    : entries;
}

const CLASSES = [PyList, PyTuple, PyDict, PyRange, PyView, PyIterator, PyFunction, Undefined, Escaped];

function isValue(value: unknown): value is Value {
  return (
    isStr(value) ||
    CLASSES.some((type) => value instanceof type) ||
    (typeof value === 'object' && value !== null && isObject(value as Value))
  );
}
