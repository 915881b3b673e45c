/** Guesses the format of a pasted text, which has no file extension. Pure. */
import { parseJson } from '../../io/json.ts';

/** The file name for parsing pasted text: a name with an extension is kept, otherwise the content decides. */
export function guessedName(name: string, content: string): string {
  return /\.[a-z0-9]+$/i.test(name) ? name : `${name}.${guessedEnding(content)}`;
}

function guessedEnding(content: string): 'html' | 'json' | 'jsonl' | 'md' | 'txt' {
  const start = content.trimStart();
  if (/^[[{]/.test(start)) return hasJsonLines(start) ? 'jsonl' : 'json';
  if (/^<(?:!doctype html|html)\b/i.test(start)) return 'html';
  if (/^"/.test(start) && hasJsonLines(start)) return 'jsonl';
  return /^ {0,3}#{1,6} \S/m.test(content) ? 'md' : 'txt';
}

/** Whether the first two lines are JSON values of their own. */
function hasJsonLines(content: string): boolean {
  const [first = '', second = ''] = content.split('\n', 3).filter((row) => row.trim() !== '');
  return isValue(first) && isValue(second);
}

function isValue(row: string): boolean {
  try {
    parseJson(row);
    return true;
  } catch {
    return false;
  }
}
