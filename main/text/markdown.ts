/** Texts of others in Markdown: what it and HTML would read in them is written out. */

/** A line as it is: every viewer of the file would fetch a picture in it. */
export function literalLine(line: string): string {
  return line.replace(/[\\`*_[\]<>|#!&]/g, '\\$&');
}

/** The same for a text of several lines, which become one. */
export function inline(text: string): string {
  return literalLine(text).replaceAll(/\s+/g, ' ');
}
