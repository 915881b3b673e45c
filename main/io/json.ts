/** JSON that comes from outside. */

/** Levels of brackets: no format that is read here needs ten, and what walks a value goes one call deeper for each. */
export const MAX_JSON_DEPTH = 500;

/** JSON.parse, but for values so deeply nested that no function could walk them: they are a SyntaxError too. */
export function parseJson(text: string): unknown {
  refuseDepth(text);
  return JSON.parse(text);
}

function refuseDepth(text: string): void {
  if (nestsBeyond(text, MAX_JSON_DEPTH)) throw new SyntaxError(`nested more than ${MAX_JSON_DEPTH} levels deep`);
}

/** Whether a value of JSON is an object with fields, not a list. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Reviver = (this: unknown, name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** The same, with whole numbers that no number holds as their digits: ids of posts have nineteen. */
export function parseJsonExactly(text: string): unknown {
  return parseDigits(text, () => undefined);
}

/** The same for a record: its own fields may hold such numbers as texts; inside lists and objects they are a RangeError. */
export function parseRecordJson(text: string): unknown {
  return parseRecord(text, (holder, value) => holder === value);
}

/** The same for a part of a record. */
export function parseRecordPart(text: string): unknown {
  return parseRecord(text, () => false);
}

function parseRecord(text: string, mayHold: (holder: unknown, value: unknown) => boolean): unknown {
  const inexact: { readonly holder: unknown; readonly source: string }[] = [];
  const value = parseDigits(text, (holder, source) => inexact.push({ holder, source }));
  const inside = inexact.find(({ holder }) => !mayHold(holder, value));
  if (inside === undefined) return value;
  throw new RangeError(`${inside.source} inside a list or object is ${TOO_LARGE}; write it in quotation marks`);
}

/** What is said of whole numbers that would be rounded. */
export const TOO_LARGE = `more than ${Number.MAX_SAFE_INTEGER}, up to which numbers are exact`;

function parseDigits(text: string, onInexact: (holder: unknown, source: string) => void): unknown {
  const value = parseJson(text);
  if (!/\d{16}/.test(text)) return value;
  const digits: Reviver = function (_name, part, { source = '' }) {
    if (typeof part !== 'number' || Math.abs(part) <= Number.MAX_SAFE_INTEGER) return part;
    if (/[eE]/.test(source) || String(part) === source) return part;
    onInexact(this, source);
    return source;
  };
  // TypeScript's library doesn't know the third argument yet.
  return JSON.parse(text, digits as Parameters<typeof JSON.parse>[1]);
}

/** The same for a file that is written again: of 30.0, JSON.stringify would make 30, which another program may refuse. */
export function parseJsonAsSpelled(text: string): unknown {
  refuseDepth(text);
  const spelled: Reviver = (_name, part, { source = '' }) =>
    typeof part === 'number' && String(part) !== source ? rawJSON(source) : part;
  return JSON.parse(text, spelled as Parameters<typeof JSON.parse>[1]);
}

// TypeScript's library doesn't know it yet.
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

function nestsBeyond(text: string, most: number): boolean {
  if (!hasOpening(text, most)) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) inString = !inString;
    else if (inString) i += code === 0x5c ? 1 : 0;
    else if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > most) return true;
  }
  return false;
}

/** Whether there are more than so many opening brackets: short values are done with here. */
function hasOpening(text: string, most: number): boolean {
  let found = 0;
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0 && found <= most; at = text.indexOf(bracket, at + 1)) found++;
  return found > most;
}
