/** Shortcuts on keyboards of other scripts. Pure. */

const MARKS: Readonly<Record<string, string>> = { BracketLeft: '[', BracketRight: ']', Comma: ',', Slash: '/' };

/** The key; where the layout writes no Latin letter, as a Russian or Arabic one, the one in that place on a Latin keyboard. */
export function latinKey({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  if (key.length !== 1 || /[\p{ASCII}\p{Script=Latin}]/u.test(key)) return key;
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (letter === undefined) return MARKS[code] ?? key;
  return shiftKey ? letter : letter.toLowerCase();
}
