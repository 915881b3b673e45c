/**
 * A text as filters compare it: any case, and an accent written either way (a Mac's file names have it as a letter of its
 * own). Both cases are asked, for what has no partner in one of them: `ß` is `SS`, `ı` is `I`.
 */
export function folded(text: string): string {
  const plain = text.normalize('NFC').toUpperCase().toLowerCase();
  // Of Turkish İ, a dot of its own stays; a Greek word ends in another small sigma than a part of it.
  return plain.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');
}
