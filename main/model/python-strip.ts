/**
 * Python's strip, lstrip and rstrip, and Jinja's trim, in chat templates. @huggingface/jinja has JavaScript's trim for
 * them: it ignores which characters to remove, and takes other ones for white space.
 */
import type { Interpreter } from '@huggingface/jinja';

type Evaluate = Interpreter['evaluate'];
type Value = ReturnType<Evaluate>;

/** What these expressions look like to the interpreter. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly callee?: Node;
  readonly args?: readonly Node[];
  readonly object?: Node;
  readonly property?: Node;
  readonly operand?: Node;
  readonly filter?: Node;
}

/** What Python's str.isspace says of. */
const SPACE = '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000';

/** The value of a strip of a text; undefined for any other expression. */
export function evaluateStrip(statement: unknown, evaluate: (node: never) => Value): Value | undefined {
  // The interpreter evaluates the ends that a slice lacks, too.
  const strip = statement === undefined ? null : stripOf(statement as Node);
  if (strip === null) return undefined;
  const [text, chars] = [strip.text, ...strip.args].map((node) => evaluate(node as never));
  if (text?.type !== 'StringValue') return undefined;
  const characters = chars?.type === 'StringValue' ? literally(String(chars.value)) : SPACE;
  const [start, end] = [
    strip.left ? `^[${characters}]+` : null,
    strip.right ? `(?<![${characters}])[${characters}]+$` : null,
  ];
  const ends = new RegExp([start, end].filter((side) => side !== null).join('|'), 'gu');
  const StringValue = text.constructor as new (value: string) => Value;
  return new StringValue(characters === '' ? String(text.value) : String(text.value).replace(ends, ''));
}

/** The text, the characters and the sides of a strip. */
function stripOf({ type, callee, args = [], filter, operand }: Node) {
  if (type === 'FilterExpression' && filter?.type === 'Identifier' && filter.value === 'trim' && operand !== undefined)
    return { text: operand, args, left: true, right: true };
  const { type: member, object, property } = callee ?? { type: '' };
  const name = property?.type === 'Identifier' ? String(property.value) : '';
  if (type !== 'CallExpression' || member !== 'MemberExpression' || object === undefined || args.length > 1)
    return null;
  if (!['strip', 'lstrip', 'rstrip'].includes(name)) return null;
  return { text: object, args, left: name !== 'rstrip', right: name !== 'lstrip' };
}

/** Characters inside the brackets of a regular expression. */
function literally(characters: string): string {
  return characters.replace(/[\\\]^-]/g, '\\$&');
}
