/** Reads CSV as RFC 4180 has it: quoted fields may contain separators, quotation marks and line breaks. */

export interface CsvRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** Whether text follows the closing quotation mark of a field: it isn't what its writer meant. */
  readonly isMixed?: true;
}

/** As many as a sheet of Excel has columns. */
export const MOST_FIELDS = 16_384;

/** Excel's own first line: `sep=;`. */
const SEPARATOR_LINE = /^"?sep=([^"\r\n])"?(?:\r\n|\n|\r)/i;

/** The rows of a text; by default the separator is what its first line names, or has most of: comma, semicolon or tab. */
export function parseCsv(text: string, given?: string): CsvRow[] {
  const named = SEPARATOR_LINE.exec(text);
  const separator = named?.[1] ?? given ?? separatorOf(text);
  const rows: CsvRow[] = [];
  let fields: string[] = [];
  let line = named === null ? 1 : 2;
  let [field, start, at] = ['', line, named?.[0].length ?? 0];
  let isMixed = false;
  const endField = (): void => {
    if (fields.length === MOST_FIELDS)
      throw new SyntaxError(`expected at most ${MOST_FIELDS} fields, got more on line ${start}`);
    fields.push(field);
  };
  const endRow = (): void => {
    endField();
    if (fields.length > 1 || field !== '') rows.push({ line: start, fields, ...(isMixed && { isMixed }) });
    [fields, field, start, isMixed] = [[], '', line, false];
  };
  // Slices of the text: a field that grows letter by letter takes many times its memory.
  const isEnd = (character: string | undefined): boolean =>
    character === separator || character === '\n' || character === '\r';
  const end = new RegExp(`[\\r\\n${separator.replace(/[\\\]^-]/, '\\$&')}]`, 'g');
  while (at < text.length) {
    if (text[at] === '"' && field === '') {
      const quoted = readQuoted(text, at + 1, start);
      field = quoted.text;
      line += quoted.lines;
      at = quoted.end;
      isMixed ||= at < text.length && !isEnd(text[at]);
    }
    end.lastIndex = at;
    // Most of many empty fields and rows end at once.
    const stop = isEnd(text[at]) ? at : end.test(text) ? end.lastIndex - 1 : text.length;
    field += text.slice(at, stop);
    at = stop + 1;
    if (stop === text.length) break;
    if (text[stop] === separator) {
      endField();
      field = '';
      continue;
    }
    if (text[stop] === '\r' && text[at] === '\n') at++;
    line++;
    endRow();
  }
  if (field !== '' || fields.length > 0) endRow();
  return rows;
}

function readQuoted(text: string, from: number, line: number) {
  for (let at = from; ; ) {
    const end = text.indexOf('"', at);
    if (end < 0) throw new SyntaxError(`the quotation mark of the row on line ${line} isn't closed`);
    at = end + 2;
    if (text[end + 1] === '"') continue;
    const value = text.slice(from, end).replaceAll('""', '"');
    return { text: value, lines: value.match(/\r\n?|\n/g)?.length ?? 0, end: end + 1 };
  }
}

/** Characters from which the separator is guessed. */
const LONGEST_HEAD = 10_000;

function separatorOf(text: string): string {
  const [line = ''] = /^(?:"[^"]*"|[^"\r\n])*/.exec(text.slice(0, LONGEST_HEAD)) ?? [];
  const first = line.replaceAll(/"[^"]*"/g, '');
  const counted = [',', ';', '\t'].map((mark) => [mark, first.split(mark).length] as const);
  return counted.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}
