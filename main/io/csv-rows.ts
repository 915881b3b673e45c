/** Reads CSV as RFC 4180 has it: quoted fields may contain separators, quotation marks and line breaks. */

export interface CsvRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** The rows of a text; by default the separator is the one that the first line has most of: comma, semicolon or tab. */
export function parseCsv(text: string, separator = separatorOf(text)): CsvRow[] {
  const rows: CsvRow[] = [];
  let fields: string[] = [];
  let [field, line, start, at] = ['', 1, 1, 0];
  const endRow = (): void => {
    fields.push(field);
    if (fields.length > 1 || field !== '') rows.push({ line: start, fields });
    [fields, field, start] = [[], '', line];
  };
  while (at < text.length) {
    const character = text[at] ?? '';
    if (character === '"' && field === '') {
      const quoted = readQuoted(text, at + 1, start);
      field = quoted.text;
      line += quoted.lines;
      at = quoted.end;
      continue;
    }
    at++;
    if (character === separator) {
      fields.push(field);
      field = '';
    } else if (character === '\n') {
      line++;
      endRow();
    } else if (character !== '\r' || text[at] !== '\n') field += character;
  }
  if (field !== '' || fields.length > 0) endRow();
  return rows;
}

function readQuoted(text: string, from: number, line: number) {
  let [at, value, lines] = [from, '', 0];
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) throw new SyntaxError(`the quotation mark of the row on line ${line} isn't closed`);
    value += text.slice(at, end);
    if (text[end + 1] !== '"') {
      lines = value.split('\n').length - 1;
      return { text: value, lines, end: end + 1 };
    }
    value += '"';
    at = end + 2;
  }
}

function separatorOf(text: string): string {
  const first = text.slice(0, Math.max(0, text.indexOf('\n')) || undefined);
  const counted = [',', ';', '\t'].map((mark) => [mark, first.split(mark).length] as const);
  return counted.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}
