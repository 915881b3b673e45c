/** Fields of the record that reward.ts names and task.yaml doesn't declare: types are only blanked, so nobody checks them. */
import { didYouMean, nearestName } from '../../text/nearest-name.ts';

export interface UnknownField {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const READ = /(?<![\w$.])record\??\.([A-Za-z_$][\w$]*)/g;

/**
 * The misspelt ones: a record may have any number of other fields, so only a name close to a declared one counts. `code`
 * is without types. None where the text has a `record` of its own.
 */
export function misspeltFields(code: string, fields: readonly string[]): UnknownField[] {
  const text = withoutTexts(code);
  if (/\b(?:const|let|var|function)\s+record\b|\brecord\s*=>|\brecord\s*=[^=]/.test(text)) return [];
  const known = [...fields, 'id', 'prompt', 'messages'];
  return [...text.matchAll(READ)].flatMap(({ 0: read, 1: name = '', index }) => {
    const meant = known.includes(name) || name in Object.prototype ? undefined : nearest(name, known);
    if (meant === undefined) return [];
    const before = text.slice(0, index).split('\n');
    const column = (before.at(-1)?.length ?? 0) + read.length - name.length + 1;
    const message = `task.yaml declares no field "${name}"${didYouMean(meant)} If your records have one of that name, declare it there`;
    return [{ line: before.length, column, message }];
  });
}

/** Short names differ from many by few letters. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const meant = nearestName(name, known);
  const isNear = meant !== undefined && Math.min(name.length, meant.length) >= 4;
  return isNear && !meant.startsWith(name) && !name.startsWith(meant) ? meant : undefined;
}

/** Comments and quoted texts as blanks, so that places stay; what a template computes is kept. */
function withoutTexts(code: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  return code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, blank);
}
