/** Expressions of Jinja, with its own precedences. After jinja2/parser.py. */
import { syntaxError, type Token } from './lexer.ts';
import type { Arguments, Arithmetic, Call, Comparison, Expr, Filter } from './nodes.ts';

/** The tokens of a template, read from left to right. */
export class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }
  get current(): Token {
    return this.look(0);
  }
  look(ahead = 1): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] ?? { type: 'eof', value: '', line: 0 };
  }
  next(): Token {
    const token = this.current;
    this.#at += 1;
    return token;
  }
  is(type: Token['type'], ...values: readonly string[]): boolean {
    const { type: own, value } = this.current;
    return own === type && (values.length === 0 || values.includes(value));
  }
  /** Reads a token if it is this one. */
  skip(type: Token['type'], value: string): boolean {
    if (!this.is(type, value)) return false;
    this.#at += 1;
    return true;
  }
  expect(type: Token['type'], value?: string): Token {
    if (this.current.type !== type || (value !== undefined && this.current.value !== value))
      this.fail(`expected ${JSON.stringify(value ?? type)}, got ${this.described()}`);
    return this.next();
  }
  described(): string {
    return this.current.type === 'eof' ? 'the end of the template' : JSON.stringify(this.current.value);
  }
  fail(message: string): never {
    return syntaxError(message, this.current.line);
  }
}

const NO_ARGUMENTS: Arguments = { args: [], named: [], rest: null, namedRest: null };
const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

export function parseExpression(tokens: Tokens, conditional = true): Expr {
  if (!conditional) return parseOr(tokens);
  const { line } = tokens.current;
  let then = parseOr(tokens);
  while (tokens.skip('name', 'if')) {
    const test = parseOr(tokens);
    const otherwise = tokens.skip('name', 'else') ? parseExpression(tokens) : null;
    then = { type: 'Condition', test, then, otherwise, line };
  }
  return then;
}

interface TupleOptions {
  /** Names and literals only, as in targets; `ns.name` too. */
  readonly simple?: 'names' | 'namespaces';
  readonly conditional?: boolean;
  /** A word that ends it. */
  readonly end?: string;
  readonly parentheses?: boolean;
}

/** An expression, or a tuple of several. */
export function parseTuple(tokens: Tokens, options: TupleOptions = {}): Expr {
  const { simple, conditional = true, end, parentheses = false } = options;
  const { line } = tokens.current;
  const items: Expr[] = [];
  let isTuple = false;
  for (;;) {
    if (items.length > 0) tokens.expect('operator', ',');
    const { type } = tokens.current;
    if (type === 'variable_end' || type === 'block_end' || tokens.is('operator', ')')) break;
    if (end !== undefined && tokens.is('name', end)) break;
    items.push(
      simple === undefined ? parseExpression(tokens, conditional) : parsePrimary(tokens, simple === 'namespaces'),
    );
    if (!tokens.is('operator', ',')) break;
    isTuple = true;
  }
  const [only] = items;
  if (!isTuple && only !== undefined) return only;
  if (!isTuple && !parentheses) tokens.fail(`expected an expression, got ${tokens.described()}`);
  return { type: 'Tuple', items, line };
}

function parseOr(tokens: Tokens): Expr {
  const { line } = tokens.current;
  let left = parseAnd(tokens);
  while (tokens.skip('name', 'or')) left = { type: 'Or', left, right: parseAnd(tokens), line };
  return left;
}

function parseAnd(tokens: Tokens): Expr {
  const { line } = tokens.current;
  let left = parseNot(tokens);
  while (tokens.skip('name', 'and')) left = { type: 'And', left, right: parseNot(tokens), line };
  return left;
}

function parseNot(tokens: Tokens): Expr {
  const { line } = tokens.current;
  if (tokens.skip('name', 'not')) return { type: 'Unary', operator: 'not', of: parseNot(tokens), line };
  return parseCompare(tokens);
}

function parseCompare(tokens: Tokens): Expr {
  const { line } = tokens.current;
  const first = parseSum(tokens);
  const rest: (readonly [Comparison, Expr])[] = [];
  for (;;) {
    if (tokens.current.type === 'operator' && COMPARISONS.has(tokens.current.value)) {
      const operator = tokens.next().value as Comparison;
      rest.push([operator, parseSum(tokens)]);
    } else if (tokens.skip('name', 'in')) rest.push(['in', parseSum(tokens)]);
    else if (tokens.is('name', 'not') && tokens.look().type === 'name' && tokens.look().value === 'in') {
      tokens.next();
      tokens.next();
      rest.push(['not in', parseSum(tokens)]);
    } else break;
  }
  return rest.length === 0 ? first : { type: 'Compare', first, rest, line };
}

function parseBinary(tokens: Tokens, operators: readonly string[], operand: (tokens: Tokens) => Expr): Expr {
  const { line } = tokens.current;
  let left = operand(tokens);
  while (tokens.is('operator', ...operators)) {
    const operator = tokens.next().value as Arithmetic;
    left = { type: 'Binary', operator, left, right: operand(tokens), line };
  }
  return left;
}

function parseSum(tokens: Tokens): Expr {
  return parseBinary(tokens, ['+', '-'], parseConcat);
}

function parseConcat(tokens: Tokens): Expr {
  const { line } = tokens.current;
  const items = [parseProduct(tokens)];
  while (tokens.skip('operator', '~')) items.push(parseProduct(tokens));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { type: 'Concat', items, line };
}

function parseProduct(tokens: Tokens): Expr {
  return parseBinary(tokens, ['*', '/', '//', '%'], (operand) => parseBinary(operand, ['**'], parseUnary));
}

function parseUnary(tokens: Tokens, filters = true): Expr {
  const { line } = tokens.current;
  const sign = tokens.is('operator', '-', '+') ? (tokens.next().value as '-' | '+') : null;
  const inner: Expr =
    sign === null ? parsePrimary(tokens) : { type: 'Unary', operator: sign, of: parseUnary(tokens, false), line };
  const node = parsePostfix(tokens, inner);
  return filters ? parseFilters(tokens, node) : node;
}

/** A name, a literal, or what stands in brackets. */
function parsePrimary(tokens: Tokens, namespaces = false): Expr {
  const token = tokens.current;
  const { line, value } = token;
  if (token.type === 'name') {
    tokens.next();
    const constant = CONSTANTS.get(value);
    if (constant !== undefined) return { type: 'Const', value: constant, line };
    if (!namespaces || !tokens.skip('operator', '.')) return { type: 'Name', name: value, ctx: 'load', line };
    return { type: 'NSRef', name: value, attribute: tokens.expect('name').value, line };
  }
  if (token.type === 'string') {
    let text = '';
    while (tokens.current.type === 'string') text += tokens.next().value;
    return { type: 'Const', value: text, line };
  }
  if (token.type === 'integer' || token.type === 'float') {
    tokens.next();
    const digits = value.replaceAll('_', '');
    if (token.type === 'integer') return { type: 'Const', value: BigInt(digits), line };
    return { type: 'Const', value: finite(Number(digits), tokens), line };
  }
  if (tokens.skip('operator', '(')) {
    const inner = parseTuple(tokens, { parentheses: true });
    tokens.expect('operator', ')');
    return inner;
  }
  if (tokens.skip('operator', '[')) {
    const items = parseItems(tokens, ']', () => parseExpression(tokens));
    return { type: 'List', items, line };
  }
  if (tokens.skip('operator', '{')) {
    const items = parseItems(tokens, '}', () => {
      const key = parseExpression(tokens);
      tokens.expect('operator', ':');
      return [key, parseExpression(tokens)] as const;
    });
    return { type: 'Dict', items, line };
  }
  return tokens.fail(`unexpected ${tokens.described()}`);
}

const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ...(['true', 'True'] as const).map((name) => [name, true] as const),
  ...(['false', 'False'] as const).map((name) => [name, false] as const),
  ...(['none', 'None'] as const).map((name) => [name, null] as const),
]);

function finite(value: number, tokens: Tokens): number {
  return Number.isFinite(value) ? value : tokens.fail('a number that is too large');
}

function parseItems<T>(tokens: Tokens, end: string, item: () => T): T[] {
  const items: T[] = [];
  while (!tokens.is('operator', end)) {
    if (items.length > 0) tokens.expect('operator', ',');
    if (tokens.is('operator', end)) break;
    items.push(item());
  }
  tokens.expect('operator', end);
  return items;
}

function parsePostfix(tokens: Tokens, start: Expr): Expr {
  let node = start;
  for (;;) {
    if (tokens.is('operator', '.', '[')) node = parseSubscript(tokens, node);
    else if (tokens.is('operator', '(')) node = parseCall(tokens, node);
    else return node;
  }
}

function parseFilters(tokens: Tokens, start: Expr): Expr {
  let node = start;
  for (;;) {
    if (tokens.is('operator', '|')) node = parseFilter(tokens, node) ?? node;
    else if (tokens.is('name', 'is')) node = parseTest(tokens, node);
    else if (tokens.is('operator', '(')) node = parseCall(tokens, node);
    else return node;
  }
}

function parseSubscript(tokens: Tokens, of: Expr): Expr {
  const { line, value } = tokens.next();
  if (value === '.') {
    const token = tokens.next();
    if (token.type === 'name') return { type: 'Getattr', of, name: token.value, line };
    if (token.type !== 'integer') syntaxError('expected name or number', token.line);
    const key = BigInt(token.value.replaceAll('_', ''));
    return { type: 'Getitem', of, key: { type: 'Const', value: key, line }, line };
  }
  const keys: Expr[] = [];
  while (!tokens.is('operator', ']')) {
    if (keys.length > 0) tokens.expect('operator', ',');
    keys.push(parseSubscribed(tokens));
  }
  tokens.expect('operator', ']');
  const [only] = keys;
  const key: Expr = keys.length === 1 && only !== undefined ? only : { type: 'Tuple', items: keys, line };
  return { type: 'Getitem', of, key, line };
}

function parseSubscribed(tokens: Tokens): Expr {
  const { line } = tokens.current;
  let start: Expr | null = null;
  if (!tokens.skip('operator', ':')) {
    start = parseExpression(tokens);
    if (!tokens.skip('operator', ':')) return start;
  }
  const part = (): Expr | null => (tokens.is('operator', ']', ',', ':') ? null : parseExpression(tokens));
  const stop = part();
  const step = tokens.skip('operator', ':') ? part() : null;
  return { type: 'Slice', start, stop, step, line };
}

function parseArguments(tokens: Tokens): Arguments {
  const { line } = tokens.expect('operator', '(');
  const args: Expr[] = [];
  const named: { key: string; value: Expr }[] = [];
  let rest: Expr | null = null;
  let namedRest: Expr | null = null;
  const ensure = (right: boolean): void => {
    if (!right) syntaxError('invalid syntax for function call expression', line);
  };
  for (let first = true; !tokens.is('operator', ')'); first = false) {
    if (!first) tokens.expect('operator', ',');
    if (!first && tokens.is('operator', ')')) break;
    if (tokens.skip('operator', '*')) {
      ensure(rest === null && namedRest === null);
      rest = parseExpression(tokens);
    } else if (tokens.skip('operator', '**')) {
      ensure(namedRest === null);
      namedRest = parseExpression(tokens);
    } else if (tokens.current.type === 'name' && tokens.look().type === 'operator' && tokens.look().value === '=') {
      ensure(namedRest === null);
      const key = tokens.next().value;
      tokens.next();
      if (named.some((one) => one.key === key)) syntaxError(`keyword argument repeated: ${key}`, line);
      named.push({ key, value: parseExpression(tokens) });
    } else {
      ensure(rest === null && namedRest === null && named.length === 0);
      args.push(parseExpression(tokens));
    }
  }
  tokens.expect('operator', ')');
  return { args, named, rest, namedRest };
}

function parseCall(tokens: Tokens, of: Expr): Call {
  const { line } = tokens.current;
  return { type: 'Call', of, ...parseArguments(tokens), line };
}

/** Filters after an expression, or those of a block, which may begin without `|`; null where there is none. */
export function parseFilter(tokens: Tokens, start: Expr | null, inline = false): Filter | null {
  let node: Filter | null = null;
  for (let first = inline; first || tokens.is('operator', '|'); first = false) {
    if (!first) tokens.next();
    const { line } = tokens.current;
    const name = parseDotted(tokens);
    const given = tokens.is('operator', '(') ? parseArguments(tokens) : NO_ARGUMENTS;
    node = { type: 'Filter', of: node ?? start, name, ...given, line };
  }
  return node;
}

function parseDotted(tokens: Tokens): string {
  let name = tokens.expect('name').value;
  while (tokens.skip('operator', '.')) name += `.${tokens.expect('name').value}`;
  return name;
}

function parseTest(tokens: Tokens, of: Expr): Expr {
  const { line } = tokens.next();
  const negated = tokens.skip('name', 'not');
  const name = parseDotted(tokens);
  const node: Expr = { type: 'Test', of, name, ...testArguments(tokens), line };
  return negated ? { type: 'Unary', operator: 'not', of: node, line } : node;
}

function testArguments(tokens: Tokens): Arguments {
  if (tokens.is('operator', '(')) return parseArguments(tokens);
  const { type } = tokens.current;
  const begins = ['name', 'string', 'integer', 'float'].includes(type) || tokens.is('operator', '[', '{');
  if (!begins || tokens.is('name', 'else', 'or', 'and')) return NO_ARGUMENTS;
  if (tokens.is('name', 'is')) tokens.fail('You cannot chain multiple tests with is');
  return { ...NO_ARGUMENTS, args: [parsePostfix(tokens, parsePrimary(tokens))] };
}
