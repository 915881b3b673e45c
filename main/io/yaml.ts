/** YAML as plain values: no aliases, no tags, limited nesting. */
import {
  type Document,
  isMap,
  isScalar,
  Lexer,
  LineCounter,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

export interface YamlFault {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface ParsedYaml {
  readonly document: Document;
  readonly faults: readonly YamlFault[];
  lineAt(offset: number): number;
}

/** Configurations have about a hundred short lines with two or three levels; a task's prompt may be a page or two. */
const LONGEST = 2 ** 17;
const DEEPEST = 50;
/** Names, values, marks, spaces, line ends and escapes: the parser takes some 10 µs for each, and more if it is wrong. */
const MOST_PIECES = 6000;
/** Of what a fault quotes. */
const LONGEST_REASON = 200;

/** Parses a text; if there are faults, don't use its value. */
export function parseYaml(text: string): ParsedYaml {
  if (text.length > LONGEST) return refused(`expected at most ${LONGEST} characters, got ${text.length}`);
  const excess = excessOf(text);
  if (excess !== null) return refused(excess);
  try {
    return parse(text);
  } catch (error) {
    // The parser recurses for each level.
    if (error instanceof RangeError) return refused(TOO_DEEP);
    throw error;
  }
}

const TOO_DEEP = `expected at most ${DEEPEST} levels, got more`;

function refused(reason: string): ParsedYaml {
  return { document: parseDocument(''), faults: [{ line: 1, reason }], lineAt: () => 1 };
}

/** What a text has too much of; null: nothing. It is read no further than that. */
function excessOf(text: string): string | null {
  let [count, depth] = [0, 0];
  for (const piece of new Lexer().lex(text)) {
    if (piece === '[' || piece === '{') depth++;
    else if (piece === ']' || piece === '}') depth--;
    count += piece.startsWith('"') ? piece.split('\\').length : 1;
    if (depth > DEEPEST) return TOO_DEEP;
    if (count > MOST_PIECES) return `expected at most ${MOST_PIECES} names, values, marks and line ends, got more`;
  }
  return null;
}

function parse(text: string): ParsedYaml {
  const lines = new LineCounter();
  // The parser's own check of keys compares each with all before it, and its pretty errors read the text again for each.
  const options = { resolveKnownTags: false, prettyErrors: false, uniqueKeys: false, logLevel: 'error' as const };
  const document = parseDocument(text, { lineCounter: lines, ...options });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const faults = [...document.errors, ...document.warnings].map(
    ({ pos, code, message }): YamlFault => ({
      line: lineAt(pos[0]),
      reason: code === 'MULTIPLE_DOCS' ? 'expected one document, got another one after `---`' : inWords(message),
    }),
  );
  visit(document, {
    // An alias may refer to itself or expand to thousands of values, and no file here needs one.
    Alias: (_, { range, source }) => {
      faults.push({ line: lineAt(range?.[0] ?? 0), reason: shortened(`expected a value, got the alias *${source}`) });
    },
    Collection: (_, collection, path) => {
      for (const { offset, reason } of wrongKeys(collection))
        faults.push({ line: lineAt(offset), reason: shortened(reason) });
      if (path.length <= 2 * DEEPEST) return undefined;
      faults.push({ line: lineAt(collection.range?.[0] ?? 0), reason: TOO_DEEP });
      return visit.BREAK;
    },
  });
  return { document, faults, lineAt };
}

function wrongKeys(collection: YAMLMap | YAMLSeq): { readonly offset: number; readonly reason: string }[] {
  if (!isMap(collection)) return [];
  const seen = new Set<unknown>();
  return collection.items.flatMap(({ key }) => {
    if (!isScalar(key)) return [];
    const fault = seen.has(key.value) ? `Map keys must be unique; "${key.value}" is repeated` : unusable(key.value);
    seen.add(key.value);
    return fault === null ? [] : [{ offset: key.range?.[0] ?? 0, reason: fault }];
  });
}

/** In an object it isn't a name like others, and schemas leave it out without a word. */
function unusable(key: unknown): string | null {
  return key === '__proto__' ? 'expected another name than "__proto__"' : null;
}

function shortened(reason: string): string {
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, LONGEST_REASON)}…`;
}

function inWords(message: string): string {
  // The parser recurses for each level, and reports what that has come to.
  if (message.includes('call stack')) return TOO_DEEP;
  return shortened(message.split('\n')[0] ?? message);
}
