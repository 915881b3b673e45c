/** What a template is made of, as jinja2/nodes.py has it. */

export interface Name {
  readonly type: 'Name';
  readonly name: string;
  ctx: 'load' | 'store' | 'param';
  readonly line: number;
}
/** `ns.name` as the target of an assignment. */
export interface NamespaceRef {
  readonly type: 'NSRef';
  readonly name: string;
  readonly attribute: string;
  readonly line: number;
}
export interface TupleNode {
  readonly type: 'Tuple';
  readonly items: readonly Expr[];
  readonly line: number;
}
export interface Arguments {
  readonly args: readonly Expr[];
  readonly named: readonly { readonly key: string; readonly value: Expr }[];
  readonly rest: Expr | null;
  readonly namedRest: Expr | null;
}
export interface Call extends Arguments {
  readonly type: 'Call';
  readonly of: Expr;
  readonly line: number;
}
/** `of` is null for the text of a block. */
export interface Filter extends Arguments {
  readonly type: 'Filter';
  readonly of: Expr | null;
  readonly name: string;
  readonly line: number;
}
export interface Test extends Arguments {
  readonly type: 'Test';
  readonly of: Expr;
  readonly name: string;
  readonly line: number;
}
export type Constant = null | boolean | bigint | number | string;
export type Arithmetic = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export type Expr = { readonly line: number } & (
  | Name
  | NamespaceRef
  | TupleNode
  | Call
  | Filter
  | Test
  | { readonly type: 'Const'; readonly value: Constant }
  | { readonly type: 'List'; readonly items: readonly Expr[] }
  | { readonly type: 'Dict'; readonly items: readonly (readonly [Expr, Expr])[] }
  | { readonly type: 'Binary'; readonly operator: Arithmetic; readonly left: Expr; readonly right: Expr }
  | { readonly type: 'And' | 'Or'; readonly left: Expr; readonly right: Expr }
  | { readonly type: 'Unary'; readonly operator: '+' | '-' | 'not'; readonly of: Expr }
  | { readonly type: 'Concat'; readonly items: readonly Expr[] }
  | { readonly type: 'Compare'; readonly first: Expr; readonly rest: readonly (readonly [Comparison, Expr])[] }
  | { readonly type: 'Condition'; readonly test: Expr; readonly then: Expr; readonly otherwise: Expr | null }
  | { readonly type: 'Getattr'; readonly of: Expr; readonly name: string }
  | { readonly type: 'Getitem'; readonly of: Expr; readonly key: Expr }
  | { readonly type: 'Slice'; readonly start: Expr | null; readonly stop: Expr | null; readonly step: Expr | null }
);

export interface For {
  readonly type: 'For';
  readonly target: Expr;
  readonly iterable: Expr;
  readonly test: Expr | null;
  readonly recursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
  readonly line: number;
}
export interface If {
  readonly type: 'If';
  readonly test: Expr;
  readonly body: readonly Statement[];
  readonly elifs: readonly If[];
  readonly otherwise: readonly Statement[];
  readonly line: number;
}
export interface Signature {
  readonly params: readonly Name[];
  readonly defaults: readonly Expr[];
}
export interface Macro extends Signature {
  readonly type: 'Macro';
  readonly name: string;
  readonly body: readonly Statement[];
  readonly line: number;
}
/** `call` is null for `{% generation %}`, which prints its body. */
export interface CallBlock extends Signature {
  readonly type: 'CallBlock';
  readonly call: Call | null;
  readonly body: readonly Statement[];
  readonly line: number;
}

export type Statement = { readonly line: number } & (
  | For
  | If
  | Macro
  | CallBlock
  | { readonly type: 'Data'; readonly text: string }
  | { readonly type: 'Output'; readonly of: Expr }
  | { readonly type: 'Set'; readonly target: Expr; readonly value: Expr }
  | {
      readonly type: 'SetBlock';
      readonly target: Expr;
      readonly filter: Filter | null;
      readonly body: readonly Statement[];
    }
  | { readonly type: 'FilterBlock'; readonly filter: Filter; readonly body: readonly Statement[] }
  | {
      readonly type: 'With';
      readonly targets: readonly Expr[];
      readonly values: readonly Expr[];
      readonly body: readonly Statement[];
    }
  | { readonly type: 'Break' | 'Continue' }
);
