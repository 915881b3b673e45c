/** A text as filters compare it, as the host does (main/text/folded.ts): any case, and an accent written either way. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
