/** A text as filters compare it: any case, and an accent written either way (file names of a Mac have it as a letter of its own). */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
