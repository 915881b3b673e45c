/** Makes a function of a template. After jinja2/compiler.py, whose scopes it follows. */
import { compileExpression, compileFilter } from './compile-expression.ts';
import { compileFor } from './compile-for.ts';
import { compileCallBlock, compileMacro } from './compile-macro.ts';
import { compileTarget } from './compile-target.ts';
import { refuse } from './errors.ts';
import {
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
import { isTrue } from './iterate.ts';
import { syntaxError } from './lexer.ts';
import type { If, Statement } from './nodes.ts';
import { blockText, toText } from './print.ts';
import { FunctionScope, Symbols } from './scopes.ts';
import { concat, type Str } from './text.ts';
import { undeclared } from './walk.ts';

/** A template's function, and the names that it reads from outside. */
export function compile(body: readonly Statement[]): { run: Exec; reads: ReadonlySet<string> } {
  if (undeclared(body, ['self']).has('self')) refuse('the name "self"');
  const symbols = new Symbols(new FunctionScope(null), null);
  symbols.visitBody(body);
  const scope: Scope = { symbols, soft: false, inLoop: false, reads: new Set() };
  const enter = entering(scope);
  const inside = compileBody(body, scope);
  const run: Exec = (frame, out) => {
    enter(frame);
    return inside(frame, out);
  };
  return { run, reads: scope.reads };
}

function compileBody(body: readonly Statement[], scope: Scope): Exec {
  const statements = body.map((statement) => compileStatement(statement, scope));
  return (frame, out) => {
    for (const statement of statements) {
      frame.run.step();
      const signal = statement(frame, out);
      if (signal !== undefined) return signal;
    }
    return undefined;
  };
}

function compileStatement(node: Statement, scope: Scope): Exec {
  switch (node.type) {
    case 'Data': {
      const { text } = node;
      return (frame, out) => print(text, frame, out);
    }
    case 'Output': {
      const of = compileExpression(node.of, scope);
      return (frame, out) => {
        frame.run.line = node.line;
        return print(toText(of(frame), frame.run), frame, out);
      };
    }
    case 'If':
      return compileIf(node, { ...scope, soft: true });
    case 'For':
      return compileFor(node, scope, compileBody);
    case 'Set': {
      const assign = compileTarget(node.target, scope);
      const value = compileExpression(node.value, scope);
      return (frame) => {
        frame.run.line = node.line;
        assign.check(frame);
        assign.to(frame, value(frame));
        return undefined;
      };
    }
    case 'SetBlock':
      return compileSetBlock(node, scope);
    case 'FilterBlock': {
      const block = innerScope(scope, (symbols) => {
        symbols.visitBody(node.body);
        symbols.visit(node.filter);
      });
      const text = compileCaptured(node.body, block);
      const filter = compileFilter(node.filter, block);
      const leave = leaving(block);
      return (frame, out) => {
        const signal = text(frame);
        if (signal !== undefined) return signal;
        print(blockText(filter(frame)), frame, out);
        leave(frame);
        return undefined;
      };
    }
    case 'With':
      return compileWith(node, scope);
    case 'Macro':
      return compileMacro(node, scope, compileBody);
    case 'CallBlock':
      return compileCallBlock(node, scope, compileBody);
    default: {
      if (!scope.inLoop) syntaxError(`{% ${node.type.toLowerCase()} %} outside of a loop`, node.line);
      const signal = node.type === 'Break' ? 'break' : 'continue';
      return () => signal;
    }
  }
}

function compileIf(node: If, scope: Scope): Exec {
  const branches = [node, ...node.elifs].map(({ test, body, line }) => ({
    test: compileExpression(test, scope),
    line,
    body: compileBody(body, scope),
  }));
  const otherwise = compileBody(node.otherwise, scope);
  return (frame, out) => {
    for (const { test, body, line } of branches) {
      frame.run.line = line;
      if (isTrue(test(frame))) return body(frame, out);
    }
    return otherwise(frame, out);
  };
}

/** A block whose text is kept as the frame's `captured`. */
function compileCaptured(body: readonly Statement[], scope: Scope): (frame: Frame) => Signal {
  const enter = entering(scope);
  const inside = compileBody(body, scope);
  return (frame) => {
    enter(frame);
    const parts: Str[] = [];
    const signal = inside(frame, parts);
    frame.captured = concat(parts);
    return signal;
  };
}

function compileSetBlock(node: Extract<Statement, { type: 'SetBlock' }>, scope: Scope): Exec {
  const block = innerScope(scope, (symbols) => symbols.visitBody(node.body));
  const text = compileCaptured(node.body, block);
  const value: Eval = node.filter === null ? (frame) => frame.captured : compileFilter(node.filter, block);
  const assign = compileTarget(node.target, scope);
  const leave = leaving(block);
  return (frame) => {
    const signal = text(frame);
    if (signal !== undefined) return signal;
    if (assign.setsNamespace) refuse('a block set to the attribute of a namespace');
    assign.to(frame, value(frame));
    leave(frame);
    return undefined;
  };
}

function compileWith(node: Extract<Statement, { type: 'With' }>, outer: Scope): Exec {
  const scope = innerScope(outer, (symbols) => {
    for (const target of node.targets) symbols.visit(target);
    symbols.visitBody(node.body);
  });
  const [enter, leave] = [entering(scope), leaving(scope)];
  const pairs = node.targets.map((target, i) => {
    const value = node.values[i];
    return { assign: compileTarget(target, scope), value: compileExpression(value ?? target, outer) };
  });
  const body = compileBody(node.body, scope);
  return (frame, out) => {
    enter(frame);
    for (const { assign, value } of pairs) assign.to(frame, value(frame));
    const signal = body(frame, out);
    if (signal === undefined) leave(frame);
    return signal;
  };
}
