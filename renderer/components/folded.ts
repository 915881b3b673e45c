/** A text as filters compare it, as the host does (main/text/folded.ts): any case, and an accent written either way. */
export function folded(text: string): string {
  const plain = text.normalize('NFC').toUpperCase().toLowerCase();
  return plain.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');
}
