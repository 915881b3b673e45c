/** What a running template has: the variables of its calls, and where a name's is. */
import { weightOf } from './print.ts';
import type { Run } from './run.ts';
import { type FunctionScope, type Load, type Ref, Symbols } from './scopes.ts';
import type { Str } from './text.ts';
import type { Value } from './values.ts';

/** One call of a function: the template's, a macro's, a recursive loop's. */
export interface Frame {
  /** A variable without a value is missing. */
  readonly slots: (Value | undefined)[];
  /** The call in which the function was made. */
  readonly parent: Frame | null;
  readonly run: Run;
  readonly context: ReadonlyMap<string, Value>;
  /** The text of the block that a filter is applied to. */
  captured: Str;
  /** In a recursive loop: its body again. */
  readonly recurse?: (items: Value, depth: number) => Value;
}

export type Eval = (frame: Frame) => Value;

/** How a statement ended: at its end, or by leaving the loop around it. */
export type Signal = 'break' | 'continue' | undefined;
export type Exec = (frame: Frame, out: Str[]) => Signal;

/** Where code stands: its names, whether an `if` is around it, and a loop that it can leave. */
export interface Scope {
  readonly symbols: Symbols;
  readonly soft: boolean;
  readonly inLoop: boolean;
  /** The function of a recursive loop, for the scopes directly inside. */
  readonly ownFunction?: FunctionScope;
  /** Collects the names that the template reads from outside. */
  readonly reads: Set<string>;
}

export function callFrame(parent: Frame): Frame {
  return { slots: [], parent, run: parent.run, context: parent.context, captured: '' };
}

/** The call that a variable belongs to, seen from a function. */
export function ownerOf(ref: Ref, from: FunctionScope): (frame: Frame) => Frame {
  let hops = 0;
  for (let scope: FunctionScope | null = from; scope !== ref.scope && scope !== null; scope = scope.parent) hops += 1;
  if (hops === 0) return (frame) => frame;
  return (frame) => {
    let owner = frame;
    for (let i = 0; i < hops; i++) owner = owner.parent ?? owner;
    return owner;
  };
}

export function reader(ref: Ref, from: FunctionScope): (frame: Frame) => Value | undefined {
  const owner = ownerOf(ref, from);
  const { slot } = ref;
  return (frame) => owner(frame).slots[slot];
}

/** Gives a scope's variables their first values. */
export function entering({ symbols, reads }: Scope): (frame: Frame) => void {
  const loads = [...symbols.loads].map(([ref, load]) => loading(ref, load, symbols.scope, reads));
  return (frame) => {
    for (const load of loads) load?.(frame);
  };
}

function loading({ slot }: Ref, load: Load, scope: FunctionScope, reads: Set<string>): ((frame: Frame) => void) | null {
  if (load.from === 'missing')
    return (frame) => {
      frame.slots[slot] = undefined;
    };
  if (load.from === 'outer') {
    const read = reader(load.ref, scope);
    return (frame) => {
      frame.slots[slot] = read(frame);
    };
  }
  if (load.from === 'param') return null;
  const { name } = load;
  reads.add(name);
  return (frame) => {
    frame.slots[slot] = frame.context.get(name);
  };
}

/** Takes them away again. */
export function leaving({ symbols }: Scope): (frame: Frame) => void {
  const slots = [...symbols.loads.keys()].map(({ slot }) => slot);
  return (frame) => {
    for (const slot of slots) frame.slots[slot] = undefined;
  };
}

/** A scope inside another one, in the same function. */
export function innerScope(outer: Scope, analyse: (symbols: Symbols) => void): Scope {
  const { ownFunction, ...rest } = outer;
  const symbols = new Symbols(ownFunction ?? outer.symbols.scope, outer.symbols);
  analyse(symbols);
  return { ...rest, symbols, soft: false };
}

export function print(text: Str, frame: Frame, out: Str[]): undefined {
  frame.run.size(weightOf(text));
  out.push(text);
}
