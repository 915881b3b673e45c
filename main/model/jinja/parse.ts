/** Statements of Jinja, with loop controls and transformers' `{% generation %}`. After jinja2/parser.py. */
import { syntaxError, tokenize } from './lexer.ts';
import type { CallBlock, Expr, For, If, Macro, Name, Signature, Statement } from './nodes.ts';
import { parseExpression, parseFilter, parseTuple, Tokens } from './parse-expression.ts';

/** Tags of Jinja2 that need other templates, or HTML. */
const REFUSED: ReadonlySet<string> = new Set(['block', 'extends', 'include', 'import', 'from', 'autoescape']);

export function parse(template: string): Statement[] {
  const tokens = new Tokens(tokenize(template));
  return parseBody(tokens, []);
}

/** Statements up to a tag that ends them, which is left; without such tags up to the end. */
function parseBody(tokens: Tokens, ends: readonly string[]): Statement[] {
  const body: Statement[] = [];
  const { line: begun } = tokens.current;
  for (;;) {
    const { type, line, value } = tokens.current;
    if (type === 'eof') {
      if (ends.length === 0) return body;
      syntaxError(`the tag ${ends.map((end) => `{% ${end} %}`).join(' or ')} is missing for what begins`, begun);
    }
    tokens.next();
    if (type === 'data') body.push({ type: 'Data', text: value, line });
    else if (type === 'variable_begin') {
      body.push({ type: 'Output', of: parseTuple(tokens), line });
      tokens.expect('variable_end');
    } else {
      if (tokens.is('name', ...ends) && ends.length > 0) return body;
      body.push(...parseStatement(tokens));
      tokens.expect('block_end');
    }
  }
}

/** The body of a tag and the word of the tag that ends it. */
function parseInside(tokens: Tokens, ...ends: readonly string[]): { body: Statement[]; end: string } {
  tokens.skip('operator', ':');
  tokens.expect('block_end');
  const body = parseBody(tokens, ends);
  return { body, end: tokens.next().value };
}

function parseStatement(tokens: Tokens): Statement[] {
  const { value: tag, line } = tokens.expect('name');
  if (REFUSED.has(tag)) syntaxError(`the tag {% ${tag} %} isn't supported in chat templates here,`, line);
  const statement = STATEMENTS.get(tag) ?? syntaxError(`unknown tag {% ${tag} %}`, line);
  return statement(tokens, line);
}

type Parse = (tokens: Tokens, line: number) => Statement[];

const STATEMENTS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ['for', (tokens, line) => [parseFor(tokens, line)]],
  ['if', (tokens, line) => [parseIf(tokens, line)]],
  ['set', (tokens, line) => [parseSet(tokens, line)]],
  ['with', (tokens, line) => [parseWith(tokens, line)]],
  ['macro', (tokens, line) => [parseMacro(tokens, line)]],
  ['call', (tokens, line) => [parseCallBlock(tokens, line)]],
  ['filter', (tokens, line) => [parseFilterBlock(tokens, line)]],
  ['print', parsePrint],
  ['generation', (tokens, line) => [parseGeneration(tokens, line)]],
  ['break', (_, line) => [{ type: 'Break', line }]],
  ['continue', (_, line) => [{ type: 'Continue', line }]],
]);

function parseFor(tokens: Tokens, line: number): For {
  const target = asTarget(parseTuple(tokens, { simple: 'names', end: 'in' }), 'store');
  tokens.expect('name', 'in');
  const iterable = parseTuple(tokens, { conditional: false, end: 'recursive' });
  const test = tokens.skip('name', 'if') ? parseExpression(tokens) : null;
  const recursive = tokens.skip('name', 'recursive');
  const { body, end } = parseInside(tokens, 'endfor', 'else');
  const otherwise = end === 'else' ? parseInside(tokens, 'endfor').body : [];
  return { type: 'For', target, iterable, test, recursive, body, otherwise, line };
}

function parseIf(tokens: Tokens, line: number): If {
  const test = parseTuple(tokens, { conditional: false });
  const { body, end } = parseInside(tokens, 'elif', 'else', 'endif');
  const elifs: If[] = [];
  let last = end;
  while (last === 'elif') {
    const { line: begun } = tokens.current;
    const own = parseTuple(tokens, { conditional: false });
    const inside = parseInside(tokens, 'elif', 'else', 'endif');
    elifs.push({ type: 'If', test: own, body: inside.body, elifs: [], otherwise: [], line: begun });
    last = inside.end;
  }
  const otherwise = last === 'else' ? parseInside(tokens, 'endif').body : [];
  return { type: 'If', test, body, elifs, otherwise, line };
}

function parseSet(tokens: Tokens, line: number): Statement {
  const target = asTarget(parseTuple(tokens, { simple: 'namespaces' }), 'store');
  if (tokens.skip('operator', '=')) return { type: 'Set', target, value: parseTuple(tokens), line };
  const filter = parseFilter(tokens, null);
  return { type: 'SetBlock', target, filter, body: parseInside(tokens, 'endset').body, line };
}

function parseWith(tokens: Tokens, line: number): Statement {
  const targets: Expr[] = [];
  const values: Expr[] = [];
  while (!tokens.is('block_end')) {
    if (targets.length > 0) tokens.expect('operator', ',');
    targets.push(asTarget(parseTuple(tokens, { simple: 'names' }), 'param'));
    tokens.expect('operator', '=');
    values.push(parseExpression(tokens));
  }
  return { type: 'With', targets, values, body: parseInside(tokens, 'endwith').body, line };
}

function parseSignature(tokens: Tokens): Signature {
  const params: Name[] = [];
  const defaults: Expr[] = [];
  tokens.expect('operator', '(');
  while (!tokens.is('operator', ')')) {
    if (params.length > 0) tokens.expect('operator', ',');
    const param = parseName(tokens, 'param');
    if (params.some(({ name }) => name === param.name)) tokens.fail(`duplicate argument '${param.name}'`);
    params.push(param);
    if (tokens.skip('operator', '=')) defaults.push(parseExpression(tokens));
    else if (defaults.length > 0) tokens.fail('non-default argument follows default argument');
  }
  tokens.expect('operator', ')');
  return { params, defaults };
}

function parseMacro(tokens: Tokens, line: number): Macro {
  const { name } = parseName(tokens, 'store');
  const signature = parseSignature(tokens);
  return { type: 'Macro', name, ...signature, body: parseInside(tokens, 'endmacro').body, line };
}

function parseCallBlock(tokens: Tokens, line: number): CallBlock {
  const signature = tokens.is('operator', '(') ? parseSignature(tokens) : { params: [], defaults: [] };
  const call = parseExpression(tokens);
  if (call.type !== 'Call') return syntaxError('expected call', line);
  return { type: 'CallBlock', call, ...signature, body: parseInside(tokens, 'endcall').body, line };
}

function parseGeneration(tokens: Tokens, line: number): CallBlock {
  const { body } = parseInside(tokens, 'endgeneration');
  return { type: 'CallBlock', call: null, params: [], defaults: [], body, line };
}

function parseFilterBlock(tokens: Tokens, line: number): Statement {
  const filter = parseFilter(tokens, null, true) ?? tokens.fail('expected a filter');
  return { type: 'FilterBlock', filter, body: parseInside(tokens, 'endfilter').body, line };
}

function parsePrint(tokens: Tokens, line: number): Statement[] {
  const printed: Statement[] = [];
  while (!tokens.is('block_end')) {
    if (printed.length > 0) tokens.expect('operator', ',');
    printed.push({ type: 'Output', of: parseExpression(tokens), line });
  }
  return printed;
}

function parseName(tokens: Tokens, ctx: Name['ctx']): Name {
  const { value: name, line } = tokens.expect('name');
  const node: Name = { type: 'Name', name, ctx, line };
  asTarget(node, ctx);
  return node;
}

const RESERVED: ReadonlySet<string> = new Set(['true', 'false', 'none', 'True', 'False', 'None']);

/** The same expression as what is assigned to. */
function asTarget(target: Expr, ctx: Name['ctx']): Expr {
  if (target.type === 'Name' && !RESERVED.has(target.name)) target.ctx = ctx;
  else if (target.type === 'Tuple') for (const item of target.items) asTarget(item, ctx);
  else if (target.type !== 'NSRef') syntaxError(`can't assign to ${JSON.stringify(target.type)}`, target.line);
  return target;
}
