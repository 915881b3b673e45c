/** Fields of the record that reward.ts reads: types are only blanked, so nobody checks them. */
import { didYouMean, nearestName } from '../../text/nearest-name.ts';

export interface UnknownField {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const READ = /(?<![\w$.])record\??\.([A-Za-z_$][\w$]*)/g;

/** What every record has besides task.yaml's fields. */
const OWN = ['id', 'prompt', 'messages'];

interface FieldRead {
  readonly name: string;
  /** Where it stands, by line and column. */
  readonly line: number;
  readonly column: number;
}

/** The names of the fields that `code` reads, each once. */
export function fieldsRead(code: string): string[] {
  return [...new Set(readsIn(code).map(({ name }) => name))].filter((name) => !OWN.includes(name));
}

/**
 * The misspelt ones, which task.yaml doesn't declare: a record may have any number of other fields, so only a name close
 * to a declared one counts. `code` is without types.
 */
export function misspeltFields(code: string, fields: readonly string[]): UnknownField[] {
  const known = [...fields, ...OWN];
  return readsIn(code).flatMap(({ name, line, column }) => {
    const meant = known.includes(name) ? undefined : nearest(name, known);
    if (meant === undefined) return [];
    const message = `task.yaml declares no field "${name}"${didYouMean(meant)} If your records have one of that name, declare it there`;
    return [{ line, column, message }];
  });
}

/** Every place that reads a field. None where the text has a `record` of its own. */
function readsIn(code: string): FieldRead[] {
  const text = withoutTexts(code);
  if (/\b(?:const|let|var|function)\s+record\b|\brecord\s*=>|\brecord\s*=[^=]/.test(text)) return [];
  return [...text.matchAll(READ)].flatMap(({ 0: read, 1: name = '', index }) => {
    if (name in Object.prototype) return [];
    const before = text.slice(0, index).split('\n');
    return [{ name, line: before.length, column: (before.at(-1)?.length ?? 0) + read.length - name.length + 1 }];
  });
}

/** Short names differ from many by few letters. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const meant = nearestName(name, known);
  const isNear = meant !== undefined && Math.min(name.length, meant.length) >= 4;
  return isNear && !meant.startsWith(name) && !name.startsWith(meant) ? meant : undefined;
}

/** With a limit to texts: marks without an end would take time by the square of their number. */
const QUOTED = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n]){0,500}'|"(?:\\.|[^"\\\n]){0,500}"/g;

/** Comments and quoted texts as blanks, so that places stay; what a template computes is kept. */
function withoutTexts(code: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  return code.replaceAll(QUOTED, blank);
}
