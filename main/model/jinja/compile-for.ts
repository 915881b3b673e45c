/** Loops. */
import { compileExpression } from './compile-expression.ts';
import { compileTarget } from './compile-target.ts';
import {
  callFrame,
  type Eval,
  type Exec,
  entering,
  type Frame,
  innerScope,
  leaving,
  print,
  type Scope,
  type Signal,
} from './frame.ts';
import { isTrue, iterate } from './iterate.ts';
import { syntaxError } from './lexer.ts';
import { LoopContext } from './loop.ts';
import type { For, Statement } from './nodes.ts';
import { FunctionScope, type Ref, Symbols } from './scopes.ts';
import { concat, type Str } from './text.ts';
import { PyIterator, type Value } from './values.ts';
import { stores, undeclared } from './walk.ts';

type CompileBody = (body: readonly Statement[], scope: Scope) => Exec;
/** Runs a loop over items; `depth` of a recursive one. */
type RunLoop = (frame: Frame, out: Str[], items: Value, depth: number) => Signal;

export function compileFor(node: For, outer: Scope, compileBody: CompileBody): Exec {
  if (stores([node], 'loop')) syntaxError('can\'t assign to the special variable "loop"', node.line);
  const iterable = compileExpression(node.iterable, outer);
  const scope = node.recursive ? functionScope(outer) : outer;
  const filter = compileLoopTest(node, outer);
  const run = compileLoop(node, scope, compileBody);
  return (frame, out) => {
    frame.run.line = node.line;
    const items = iterable(frame);
    if (!node.recursive) return run(frame, out, filter(frame, items), 0);
    const recurse = (inner: Value, depth: number): Str => {
      const parts: Str[] = [];
      run({ ...callFrame(frame), recurse }, parts, filter(frame, inner), depth);
      return concat(parts);
    };
    return print(recurse(items, 0), frame, out);
  };
}

/** The scope of a function of its own, whose names are those of a scope directly inside `outer`. */
function functionScope(outer: Scope): Scope {
  return { ...outer, ownFunction: new FunctionScope(outer.symbols.scope), inLoop: false };
}

/** Leaves out the items for which the test is false, one by one while the loop runs. */
function compileLoopTest(node: For, outer: Scope): (frame: Frame, items: Value) => Value {
  if (node.test === null) return (_, items) => items;
  const symbols = new Symbols(new FunctionScope(outer.symbols.scope), outer.symbols);
  symbols.visitLoop(node, 'test');
  const scope: Scope = { ...outer, symbols, soft: false };
  const [enter, target] = [entering(scope), compileTarget(node.target, scope)];
  const test: Eval = compileExpression(node.test, scope);
  return (frame, items) => {
    const source = iterate(items, frame.run);
    const own = callFrame(frame);
    const kept = function* (): Iterator<Value> {
      enter(own);
      for (let next = source.next(); next.done !== true; next = source.next()) {
        frame.run.step();
        target.to(own, next.value);
        if (isTrue(test(own))) yield next.value;
      }
    };
    return new PyIterator('generator', kept());
  };
}

function compileLoop(node: For, outer: Scope, compileBody: CompileBody): RunLoop {
  let loopRef: Ref | null = null;
  const body = innerScope(outer, (symbols) => {
    // Only a loop that reads it has one, so that others cost nothing.
    if (node.recursive || undeclared(node.body, ['loop']).has('loop')) loopRef = symbols.declare('loop');
    symbols.visitLoop(node, 'body');
  });
  const otherwise = innerScope(outer, (symbols) => symbols.visitLoop(node, 'else'));
  const inside: Scope = { ...body, inLoop: true };
  const [enter, leave, target] = [entering(inside), leaving(inside), compileTarget(node.target, inside)];
  const run = compileBody(node.body, inside);
  const [enterElse, leaveElse, runElse] = [
    entering(otherwise),
    leaving(otherwise),
    compileBody(node.otherwise, otherwise),
  ];
  const slot = (loopRef as Ref | null)?.slot ?? null;
  return (frame, out, items, depth) => {
    const loop =
      slot === null ? null : new LoopContext(items, frame.run, node.recursive ? (frame.recurse ?? null) : null, depth);
    const source = loop === null ? iterate(items, frame.run) : null;
    let completed = false;
    for (;;) {
      const next = loop === null ? nextOf(source) : loop.next();
      if (next === null) break;
      frame.run.step();
      target.to(frame, next.value);
      if (slot !== null) frame.slots[slot] = loop;
      enter(frame);
      const signal = run(frame, out);
      if (signal === 'break') break;
      // As in Jinja2, an item that ends with `continue` doesn't keep the loop from its `else`.
      if (signal === undefined) completed = true;
    }
    leave(frame);
    if (completed || node.otherwise.length === 0) return undefined;
    enterElse(frame);
    const signal = runElse(frame, out);
    if (signal === undefined) leaveElse(frame);
    return signal;
  };
}

function nextOf(source: Iterator<Value> | null): { readonly value: Value } | null {
  const next = source?.next();
  return next === undefined || next.done === true ? null : { value: next.value };
}
