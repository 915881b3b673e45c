/**
 * Which variable a name of a template means. Jinja decides it before the template runs: a name that is set anywhere in a
 * scope is that scope's own from its beginning. After jinja2/idtracking.py.
 */
import { PyError } from './errors.ts';
import type { CallBlock, Expr, For, Macro, Statement } from './nodes.ts';
import { childrenOf } from './walk.ts';

/** A function that Jinja would compile: its variables live as long as one call of it. */
export class FunctionScope {
  readonly parent: FunctionScope | null;
  readonly #refs = new Map<string, Ref>();
  constructor(parent: FunctionScope | null) {
    this.parent = parent;
  }
  get size(): number {
    return this.#refs.size;
  }
  ref(ident: string): Ref {
    const known = this.#refs.get(ident);
    if (known !== undefined) return known;
    const ref = { scope: this, slot: this.#refs.size };
    this.#refs.set(ident, ref);
    return ref;
  }
}

/** A variable: a place in the calls of its function. */
export interface Ref {
  readonly scope: FunctionScope;
  readonly slot: number;
}

/** What a variable holds when its scope is entered. */
export type Load =
  | { readonly from: 'param' }
  | { readonly from: 'missing' }
  | { readonly from: 'context'; readonly name: string }
  | { readonly from: 'outer'; readonly ref: Ref };

export class Symbols {
  readonly scope: FunctionScope;
  readonly #parent: Symbols | null;
  readonly #level: number;
  readonly #refs: Map<string, Ref>;
  readonly loads: Map<Ref, Load>;
  readonly #stores: Set<string>;

  constructor(scope: FunctionScope, parent: Symbols | null, copied: Symbols | null = null) {
    this.scope = scope;
    this.#parent = parent;
    this.#level = parent === null ? 0 : parent.#level + 1;
    this.#refs = new Map(copied === null ? [] : copied.#refs);
    this.loads = new Map(copied?.loads);
    this.#stores = new Set(copied === null ? [] : copied.#stores);
  }

  find(name: string): Ref | null {
    return this.#refs.get(name) ?? this.#parent?.find(name) ?? null;
  }

  /** The variable of a name that was analysed before. */
  ref(name: string): Ref {
    const found = this.find(name);
    if (found !== null) return found;
    throw new PyError('TemplateError', `the name "${name}" can't be resolved where it stands`);
  }

  #define(name: string, load: Load): Ref {
    const ref = this.scope.ref(`${this.#level}_${name}`);
    this.#refs.set(name, ref);
    this.loads.set(ref, load);
    return ref;
  }

  declare(name: string): Ref {
    this.#stores.add(name);
    return this.#define(name, { from: 'param' });
  }

  #load(name: string): void {
    if (this.find(name) === null) this.#define(name, { from: 'context', name });
  }

  #store(name: string): void {
    this.#stores.add(name);
    if (this.#refs.has(name)) return;
    const outer = this.#parent?.find(name) ?? null;
    this.#define(name, outer === null ? { from: 'missing' } : { from: 'outer', ref: outer });
  }

  /** Names of an expression, or of a target; `asParam`: a loop's own. */
  visit(node: Expr, asParam = false): void {
    if (node.type === 'Name') {
      if (asParam || node.ctx === 'param') this.declare(node.name);
      else if (node.ctx === 'store') this.#store(node.name);
      else this.#load(node.name);
    } else if (node.type === 'NSRef') this.#load(node.name);
    else for (const child of childrenOf(node)) this.visit(child, asParam);
  }

  visitBody(body: readonly Statement[]): void {
    for (const statement of body) this.#visitStatement(statement);
  }

  /** What a statement says to the scope around it. */
  #visitStatement(node: Statement): void {
    switch (node.type) {
      case 'If': {
        this.visit(node.test);
        const branch = (inside: readonly Statement[]): Symbols => {
          const copy = new Symbols(this.scope, this.#parent, this);
          copy.visitBody(inside);
          return copy;
        };
        this.#merge([branch(node.body), branch(node.elifs), branch(node.otherwise)]);
        return;
      }
      case 'Macro':
        this.#store(node.name);
        return;
      case 'Set':
        this.visit(node.value);
        this.visit(node.target);
        return;
      case 'SetBlock':
        this.visit(node.target);
        return;
      case 'For':
        this.visit(node.iterable);
        return;
      case 'CallBlock':
        if (node.call !== null) this.visit(node.call);
        return;
      case 'FilterBlock':
        this.visit(node.filter);
        return;
      case 'With':
        for (const value of node.values) this.visit(value);
        return;
      case 'Output':
        this.visit(node.of);
        return;
      default:
        return;
    }
  }

  #merge(branches: readonly Symbols[]): void {
    const stores = new Set(branches.flatMap((branch) => [...branch.#stores]));
    for (const name of this.#stores) stores.delete(name);
    for (const branch of branches) {
      for (const [name, ref] of branch.#refs) this.#refs.set(name, ref);
      for (const [ref, load] of branch.loads) this.loads.set(ref, load);
      for (const name of branch.#stores) this.#stores.add(name);
    }
    for (const name of stores) {
      const outer = this.#parent?.find(name) ?? null;
      this.loads.set(this.ref(name), outer === null ? { from: 'context', name } : { from: 'outer', ref: outer });
    }
  }

  /** The names of a loop's part. */
  visitLoop(node: For, part: 'body' | 'else' | 'test'): void {
    if (part !== 'else') this.visit(node.target, true);
    if (part === 'test' && node.test !== null) this.visit(node.test);
    if (part === 'body') this.visitBody(node.body);
    if (part === 'else') this.visitBody(node.otherwise);
  }

  visitMacro(node: Macro | CallBlock): void {
    for (const param of node.params) this.visit(param);
    for (const value of node.defaults) this.visit(value);
    this.visitBody(node.body);
  }
}
