/** A command as it is typed in one line, as its program and arguments: quotes keep spaces together, nothing else is special. */
export function commandWords(line: string): string[] {
  return Array.from(line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g), ([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double: string | undefined, single: string | undefined) =>
      String(double ?? single ?? ''),
    ),
  );
}
