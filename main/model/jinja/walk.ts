/** Walks over a template's parts in the order in which Jinja does. */
import type { Arguments, Expr, Statement } from './nodes.ts';

function argumentsOf({ args, named, rest, namedRest }: Arguments): Expr[] {
  return [...args, ...named.map(({ value }) => value), ...[rest, namedRest].filter((part) => part !== null)];
}

/** The expressions directly in an expression. */
export function childrenOf(node: Expr): readonly Expr[] {
  switch (node.type) {
    case 'Tuple':
    case 'List':
    case 'Concat':
      return node.items;
    case 'Dict':
      return node.items.flat();
    case 'Call':
    case 'Test':
      return [node.of, ...argumentsOf(node)];
    case 'Filter':
      return [...(node.of === null ? [] : [node.of]), ...argumentsOf(node)];
    case 'Binary':
    case 'And':
    case 'Or':
      return [node.left, node.right];
    case 'Unary':
    case 'Getattr':
      return [node.of];
    case 'Getitem':
      return [node.of, node.key];
    case 'Compare':
      return [node.first, ...node.rest.map(([, operand]) => operand)];
    case 'Condition':
      return [node.test, node.then, ...(node.otherwise === null ? [] : [node.otherwise])];
    case 'Slice':
      return [node.start, node.stop, node.step].filter((part) => part !== null);
    default:
      return [];
  }
}

/** A statement's own expressions and the statements inside it, in order. */
function partsOf(node: Statement): { expressions: readonly Expr[]; inside: readonly Statement[] } {
  switch (node.type) {
    case 'For':
      return {
        expressions: [node.target, node.iterable, ...(node.test === null ? [] : [node.test])],
        inside: [...node.body, ...node.otherwise],
      };
    case 'If':
      return { expressions: [node.test], inside: [...node.body, ...node.elifs, ...node.otherwise] };
    case 'Macro':
      return { expressions: [...node.params, ...node.defaults], inside: node.body };
    case 'CallBlock':
      return {
        expressions: [...(node.call === null ? [] : [node.call]), ...node.params, ...node.defaults],
        inside: node.body,
      };
    case 'Output':
      return { expressions: [node.of], inside: [] };
    case 'Set':
      return { expressions: [node.target, node.value], inside: [] };
    case 'SetBlock':
      return { expressions: [node.target, ...(node.filter === null ? [] : [node.filter])], inside: node.body };
    case 'FilterBlock':
      return { expressions: [node.filter], inside: node.body };
    case 'With':
      return { expressions: [...node.targets, ...node.values], inside: node.body };
    default:
      return { expressions: [], inside: [] };
  }
}

/** Which of the names are read before they are set, in a walk over the statements. */
export function undeclared(body: readonly Statement[], names: readonly string[]): Set<string> {
  const open = new Set(names);
  const found = new Set<string>();
  const visit = (node: Expr): void => {
    if (node.type === 'Name') {
      if (node.ctx === 'load' && open.has(node.name)) found.add(node.name);
      else open.delete(node.name);
    }
    for (const child of childrenOf(node)) visit(child);
  };
  const visitBody = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      const { expressions, inside } = partsOf(statement);
      for (const expression of statement.type === 'FilterBlock' ? [] : expressions) visit(expression);
      visitBody(inside);
      if (statement.type === 'FilterBlock') visit(statement.filter);
    }
  };
  visitBody(body);
  return found;
}

/** Whether a name is assigned anywhere in the statements and their expressions. */
export function stores(body: readonly Statement[], name: string): boolean {
  const inExpression = (node: Expr): boolean =>
    (node.type === 'Name' && node.ctx === 'store' && node.name === name) || childrenOf(node).some(inExpression);
  return body.some((statement) => {
    const { expressions, inside } = partsOf(statement);
    return expressions.some(inExpression) || stores(inside, name);
  });
}
