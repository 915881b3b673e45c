/** YAML as plain values: no aliases, no tags, limited nesting. */
import { type Document, LineCounter, parseDocument, visit } from 'yaml';

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

/** Configurations have about a hundred short lines with two or three levels. */
const LONGEST = 1_000_000;
const DEEPEST = 50;

/** Parses a text; if there are faults, don't use its value. */
export function parseYaml(text: string): ParsedYaml {
  if (text.length > LONGEST) return refused(`expected at most ${LONGEST} characters, got ${text.length}`);
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

function parse(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, resolveKnownTags: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const faults = [...document.errors, ...document.warnings].map(
    ({ pos, code, message }): YamlFault => ({
      line: lineAt(pos[0]),
      reason: code === 'MULTIPLE_DOCS' ? 'expected one document, got another one after `---`' : firstLine(message),
    }),
  );
  visit(document, {
    // An alias may refer to itself or expand to thousands of values, and no file here needs one.
    Alias: (_, { range, source }) => {
      faults.push({ line: lineAt(range?.[0] ?? 0), reason: `expected a value, got the alias *${source}` });
    },
    Collection: (_, { range }, path) => {
      if (path.length <= 2 * DEEPEST) return undefined;
      faults.push({ line: lineAt(range?.[0] ?? 0), reason: TOO_DEEP });
      return visit.BREAK;
    },
  });
  return { document, faults, lineAt };
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/( at line \d+, column \d+)?:$/, '') ?? message;
}
