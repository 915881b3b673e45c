/** What a completion answers with: its JSON, the value of its arithmetic; its numbers are in numbers.ts. */
import { DEEPEST_JSON, nestingOf } from './json-nesting.ts';

const FENCED = /```(?:json)?[^\S\n]*\n([\s\S]*?)```/;

/** The JSON value that a text consists of, or that it has in a code block, or its outermost braces; undefined: none, or one too deep. */
export function jsonIn(text: string): unknown {
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, FENCED.exec(text)?.[1], braces]) {
    if (candidate === undefined || candidate.trim() === '' || nestingOf(candidate) > DEEPEST_JSON) continue;
    try {
      return JSON.parse(candidate);
    } catch {
      // The next form.
    }
  }
  return undefined;
}

const TOKENS = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([-+*/()×÷−]))/y;
/** Brackets and signs within one another: each takes a few calls. */
const DEEPEST = 100;

/** The value of an expression of numbers, + − * / and brackets; null for anything else, and for a division by 0. */
export function arithmetic(expression: string): number | null {
  const tokens = tokensOf(expression.trim());
  if (tokens === null) return null;
  let at = 0;
  let depth = 0;

  function sum(): number {
    let value = product();
    while (tokens?.[at] === '+' || tokens?.[at] === '-') value += tokens[at++] === '+' ? product() : -product();
    return value;
  }
  function product(): number {
    let value = factor();
    while (tokens?.[at] === '*' || tokens?.[at] === '/')
      value = tokens[at++] === '*' ? value * factor() : value / factor();
    return value;
  }
  function factor(): number {
    const token = tokens?.[at++];
    if (typeof token === 'number') return token;
    if (++depth > DEEPEST) return Number.NaN;
    if (token !== '-' && token !== '(') return Number.NaN;
    const value = token === '-' ? -factor() : sum();
    depth--;
    return token === '-' || tokens?.[at++] === ')' ? value : Number.NaN;
  }

  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? value : null;
}

/** Numbers and signs; null if something else is between them. */
function tokensOf(expression: string): (number | string)[] | null {
  const tokens: (number | string)[] = [];
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < expression.length) {
    const found = TOKENS.exec(expression);
    if (found === null) return null;
    tokens.push(found[1] === undefined ? sign(found[2] ?? '') : Number(found[1]));
  }
  return tokens;
}

function sign(symbol: string): string {
  return { '×': '*', '÷': '/', '−': '-' }[symbol] ?? symbol;
}
