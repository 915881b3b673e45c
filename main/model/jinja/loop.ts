/** The `loop` of a for. After LoopContext of jinja2/runtime.py. */
import { equals } from './compare.ts';
import { refuse, typeError } from './errors.ts';
import { iterate, sizeOf } from './iterate.ts';
import type { Run } from './run.ts';
import { type Named, PyFunction, PyIterator, type PyObject, PyTuple, Undefined, type Value } from './values.ts';

/** Renders a recursive loop's body again, for inner items. */
type Recurse = (items: Value, depth: number) => Value;

export class LoopContext implements PyObject {
  readonly kind = 'loop';
  index0 = -1;
  readonly #run: Run;
  readonly #iterable: Value;
  readonly #recurse: Recurse | null;
  readonly #depth0: number;
  #iterator: Iterator<Value>;
  #length: number | null = null;
  /** The next item, where it has been looked at; `done` where there is none. */
  #after: IteratorResult<Value> | null = null;
  #current: Value = null;
  #before: Value = null;
  #changed: Value | null = null;

  constructor(iterable: Value, run: Run, recurse: Recurse | null, depth0: number) {
    this.#iterable = iterable;
    this.#iterator = iterate(iterable, run);
    this.#run = run;
    this.#recurse = recurse;
    this.#depth0 = depth0;
  }

  /** The next item, or null at the end. */
  next(): { readonly value: Value } | null {
    const next = this.#after ?? this.#iterator.next();
    this.#after = null;
    if (next.done === true) return null;
    this.index0 += 1;
    this.#before = this.#current;
    this.#current = next.value;
    return { value: next.value };
  }

  #peek(): IteratorResult<Value> {
    this.#after ??= this.#iterator.next();
    return this.#after;
  }

  size = (): number => {
    if (this.#length !== null) return this.#length;
    const size = this.#iterable instanceof PyIterator ? null : sizeOf(this.#iterable);
    if (size !== null) {
      this.#length = size;
      return size;
    }
    const left: Value[] = [];
    for (let next = this.#iterator.next(); next.done !== true; next = this.#iterator.next()) {
      this.#run.items(1);
      left.push(next.value);
    }
    this.#iterator = left[Symbol.iterator]();
    const peeked = this.#after !== null && this.#after.done !== true ? 1 : 0;
    this.#length = left.length + this.index0 + 1 + peeked;
    return this.#length;
  };

  attribute(name: string): Value | undefined {
    switch (name) {
      case 'index':
        return BigInt(this.index0 + 1);
      case 'index0':
        return BigInt(this.index0);
      case 'first':
        return this.index0 === 0;
      case 'last':
        return this.#peek().done === true;
      case 'length':
        return BigInt(this.size());
      case 'revindex':
        return BigInt(this.size() - this.index0);
      case 'revindex0':
        return BigInt(this.size() - this.index0 - 1);
      case 'depth':
        return BigInt(this.#depth0 + 1);
      case 'depth0':
        return BigInt(this.#depth0);
      case 'previtem':
        return this.index0 === 0 ? new Undefined('there is no previous item') : this.#before;
      case 'nextitem': {
        const next = this.#peek();
        return next.done === true ? new Undefined('there is no next item') : next.value;
      }
      case 'cycle':
        return new PyFunction('cycle', (args) =>
          args.length === 0 ? typeError('no items for cycling given') : (args[this.index0 % args.length] ?? null),
        );
      case 'changed':
        return new PyFunction('changed', (args, _, run) => this.#hasChanged(new PyTuple(args), run));
      default:
        return undefined;
    }
  }

  #hasChanged(value: PyTuple, run: Run): boolean {
    if (this.#changed !== null && equals(this.#changed, value, run)) return false;
    this.#changed = value;
    return true;
  }

  print(): string {
    return `<LoopContext ${this.index0 + 1}/${this.size()}>`;
  }

  call(args: readonly Value[], named: Named): Value {
    const [items] = args;
    if (this.#recurse === null) return typeError("The loop must have the 'recursive' marker to be called recursively.");
    if (items === undefined || args.length !== 1 || named.size > 0) return refuse('a call of a loop without one list');
    return this.#recurse(items, this.#depth0 + 1);
  }
}
