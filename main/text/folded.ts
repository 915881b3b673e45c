/**
 * A text as filters compare it: any case, and an accent written either way (a Mac's file names have it as a letter of its
 * own).
 */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
