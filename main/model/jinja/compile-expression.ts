/** Makes functions of a template's expressions. */
import { attribute, item, part } from './attributes.ts';
import { equals, isOrdered } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { type Eval, type Frame, reader, type Scope } from './frame.ts';
import { contains, isTrue, itemsOf } from './iterate.ts';
import { syntaxError } from './lexer.ts';
import { filterOf, hasFilter, hasTest, testOf } from './library.ts';
import type { Arguments, Call, Comparison, Expr, Filter, Test } from './nodes.ts';
import { arithmetic, negate } from './operators.ts';
import { joined, toText } from './print.ts';
import type { Run } from './run.ts';
import { isStr, plain } from './text.ts';
import {
  isObject,
  type Named,
  PyDict,
  PyFunction,
  PyList,
  PyTuple,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

export function compileExpression(node: Expr, scope: Scope): Eval {
  const compile = (inner: Expr): Eval => compileExpression(inner, scope);
  switch (node.type) {
    case 'Const': {
      const { value } = node;
      return () => value;
    }
    case 'Name': {
      const { name } = node;
      const read = reader(scope.symbols.ref(name), scope.symbols.scope);
      return (frame) => {
        const value = read(frame);
        return value === undefined ? new Undefined(`'${name}' is undefined`) : value;
      };
    }
    case 'Tuple':
    case 'List': {
      const items = node.items.map(compile);
      const isTuple = node.type === 'Tuple';
      return (frame) => {
        frame.run.items(items.length);
        const values = items.map((of) => of(frame));
        return isTuple ? new PyTuple(values) : new PyList(values);
      };
    }
    case 'Dict': {
      const items = node.items.map(([key, value]) => [compile(key), compile(value)] as const);
      return (frame) => {
        frame.run.items(items.length);
        return new PyDict(items.map(([key, value]) => [key(frame), value(frame)] as const));
      };
    }
    case 'Binary': {
      const [left, right, { operator, line }] = [compile(node.left), compile(node.right), node];
      return (frame) => {
        const [a, b] = [left(frame), right(frame)];
        frame.run.line = line;
        return arithmetic(operator, a, b, frame.run);
      };
    }
    case 'And':
    case 'Or': {
      const [left, right] = [compile(node.left), compile(node.right)];
      const stops = node.type === 'Or';
      return (frame) => {
        const value = left(frame);
        return isTrue(value) === stops ? value : right(frame);
      };
    }
    case 'Unary': {
      const [of, { operator }] = [compile(node.of), node];
      return operator === 'not' ? (frame) => !isTrue(of(frame)) : (frame) => negate(of(frame), operator);
    }
    case 'Concat': {
      const items = node.items.map(compile);
      return (frame) =>
        joined(
          items.map((of) => of(frame)).map((value) => toText(value, frame.run)),
          frame.run,
        );
    }
    case 'Compare':
      return compileCompare(
        compile(node.first),
        node.rest.map(([operator, operand]) => [operator, compile(operand)]),
      );
    case 'Condition':
      return compileCondition(node, scope);
    case 'Getattr': {
      const [of, { name, line }] = [compile(node.of), node];
      return (frame) => {
        const value = of(frame);
        frame.run.line = line;
        return attribute(value, name, frame.run);
      };
    }
    case 'Getitem':
      return compileItem(compile(node.of), node.key, compile, node.line);
    case 'Call':
      return compileCall(node, scope);
    case 'Filter':
      return compileFilter(node, scope);
    case 'Test':
      return compileTest(node, scope);
    default:
      return syntaxError('a slice or a namespace where a value belongs', node.line);
  }
}

function compileItem(of: Eval, key: Expr, compile: (node: Expr) => Eval, line: number): Eval {
  if (key.type !== 'Slice') {
    const at = compile(key);
    return (frame) => {
      const [value, index] = [of(frame), at(frame)];
      frame.run.line = line;
      return item(value, index, frame.run);
    };
  }
  const bound = (node: Expr | null): Eval => (node === null ? () => null : compile(node));
  const [start, stop, step] = [bound(key.start), bound(key.stop), bound(key.step)];
  return (frame) => {
    const value = of(frame);
    frame.run.line = line;
    return part(value, { start: start(frame), stop: stop(frame), step: step(frame) }, frame.run);
  };
}

function compileCondition(node: Extract<Expr, { type: 'Condition' }>, outer: Scope): Eval {
  const scope = { ...outer, soft: true };
  const [test, then] = [compileExpression(node.test, scope), compileExpression(node.then, scope)];
  const otherwise: Eval =
    node.otherwise === null
      ? () => new Undefined('the inline if-expression evaluated to false and no else section was defined')
      : compileExpression(node.otherwise, scope);
  return (frame) => (isTrue(test(frame)) ? then(frame) : otherwise(frame));
}

function compileCompare(first: Eval, rest: readonly (readonly [Comparison, Eval])[]): Eval {
  return (frame) => {
    let left = first(frame);
    for (const [operator, operand] of rest) {
      const right = operand(frame);
      if (!compares(left, operator, right, frame.run)) return false;
      left = right;
    }
    return true;
  };
}

function compares(left: Value, operator: Comparison, right: Value, run: Run): boolean {
  if (operator === '==') return equals(left, right, run);
  if (operator === '!=') return !equals(left, right, run);
  if (operator === 'in' || operator === 'not in') return contains(right, left, run) === (operator === 'in');
  return isOrdered(left, operator, right, run);
}

/** Arguments of a call, by position and by name. */
function compileArguments({ args, named, rest, namedRest }: Arguments, scope: Scope) {
  const compile = (node: Expr): Eval => compileExpression(node, scope);
  const positional = args.map(compile);
  const keywords = named.map(({ key, value }) => [key, compile(value)] as const);
  const [more, moreNamed] = [rest, namedRest].map((node) => (node === null ? null : compile(node)));
  return (frame: Frame): { args: Value[]; named: Map<string, Value> } => {
    const values = positional.map((of) => of(frame));
    const names = new Map<string, Value>(keywords.map(([key, of]) => [key, of(frame)] as const));
    if (more !== null && more !== undefined) for (const value of itemsOf(more(frame), frame.run)) values.push(value);
    if (moreNamed !== null && moreNamed !== undefined) addNames(names, moreNamed(frame));
    return { args: values, named: names };
  };
}

function addNames(names: Map<string, Value>, values: Value): void {
  if (!(values instanceof PyDict))
    throw new PyError('TypeError', `argument after ** must be a mapping, not ${typeName(values)}`);
  for (const [key, value] of values.entries()) {
    if (!isStr(key)) throw new PyError('TypeError', 'keywords must be strings');
    if (names.has(plain(key))) typeError(`got multiple values for keyword argument '${plain(key)}'`);
    names.set(plain(key), value);
  }
}

/** A call; `also`: the caller of a call block. */
export function compileCall(node: Call, scope: Scope, also?: (frame: Frame) => Value): Eval {
  const of = compileExpression(node.of, scope);
  const given = compileArguments(node, scope);
  return (frame) => {
    const callee = of(frame);
    const { args, named } = given(frame);
    if (also !== undefined) {
      if (named.has('caller')) refuse('a call block whose call has a "caller"');
      named.set('caller', also(frame));
    }
    frame.run.line = node.line;
    return call(callee, args, named, frame.run);
  };
}

function call(callee: Value, args: readonly Value[], named: Named, run: Run): Value {
  run.step();
  if (callee instanceof Undefined) throw new PyError('UndefinedError', callee.why);
  if (callee instanceof PyFunction) return run.nested(() => callee.call(args, named, run));
  if (isObject(callee) && callee.call !== undefined) return run.nested(() => callee.call?.(args, named, run) ?? null);
  return typeError(`'${typeName(callee)}' object is not callable`);
}

/** Inside an `if` a filter may be unknown, as long as it isn't used. */
export function compileFilter(node: Filter, scope: Scope): Eval {
  const { name, line } = node;
  if (!hasFilter(name) && !scope.soft) syntaxError(`No filter named '${name}'`, line);
  const of: Eval = node.of === null ? (frame) => frame.captured : compileExpression(node.of, scope);
  return compileUse(node, of, filterOf, scope);
}

function compileTest(node: Test, scope: Scope): Eval {
  const { name, line } = node;
  if (!hasTest(name) && !scope.soft) syntaxError(`No test named '${name}'`, line);
  return compileUse(node, compileExpression(node.of, scope), testOf, scope);
}

/** What a filter or test makes of a value. */
function compileUse(node: Filter | Test, of: Eval, find: typeof filterOf, scope: Scope): Eval {
  const { name, line } = node;
  const given = compileArguments(node, scope);
  return (frame) => {
    const value = of(frame);
    const { args, named } = given(frame);
    frame.run.line = line;
    frame.run.step();
    return find(name)(value, args, named, frame.run);
  };
}
