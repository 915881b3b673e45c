/**
 * One way to write a text: copies of it from the web, from PDFs and from word processors differ in ligatures, in
 * composed accents, in kinds of spaces and in characters that nobody sees.
 */

/** Letters that join, or have conjuncts: there ZWNJ and ZWJ are spelling. */
const JOINING =
  /[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Nkoo}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]/u;
/** What a variation selector may follow: without one of these it selects nothing. */
const VARIED = /[\p{Emoji}\p{S}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}]/u;
const JAMO = /[\u1100-\u115e\u1161-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;

/** Latin and Armenian ligatures and digraphs, and the presentation forms of Hebrew and Arabic, but no whole words. */
const LIGATURES = /[\u0132\u0133\u01c4-\u01cc\u01f1-\u01f3\ufb00-\ufdef\ufe70-\ufefc]/gu;
const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028]/g;
const SPACES = /[\p{Zs}\u2800\u3164\uffa0]/gu;
/** Invisible everywhere: soft hyphens, ZWSP, marks of direction, word joiners, byte-order marks, control characters. */
const INVISIBLE =
  /[\u00ad\u061c\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffc\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|[^\P{Cc}\t\n]/gu;
/** The flags of England, Scotland and Wales, or a character that is invisible except in certain places. */
const IN_PLACE =
  /\u{1f3f4}[\u{e0020}-\u{e007e}]+\u{e007f}|\u034f|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u115f\u1160]|\u200c|\u200d|[\u{e0000}-\u{e0fff}]/gu;

/** The text in composed Unicode (NFC) with ordinary spaces and line ends, and without what is invisible and no spelling. */
export function oneForm(text: string): string {
  if (!/[^\n\t\x20-\x7e]/.test(text)) return text;
  const lines = text.replace(LINE_ENDS, '\n').replaceAll('\u2029', '\n\n');
  return lines
    .replace(LIGATURES, (character) => character.normalize('NFKC').replaceAll(' ', ''))
    .replace(SPACES, ' ')
    .replace(INVISIBLE, '')
    .replace(IN_PLACE, (found, at: number, whole: string) => (isInPlace(found, at, whole) ? found : ''))
    .normalize('NFC');
}

function isInPlace(found: string, at: number, whole: string): boolean {
  const before = characterBefore(whole, at);
  const after = String.fromCodePoint(whole.codePointAt(at + found.length) ?? 0);
  const code = found.codePointAt(0) ?? 0;
  if (code === 0x1f3f4) return true;
  if (code === 0x34f) return /\p{M}/u.test(before) && /\p{M}/u.test(after);
  if (code === 0x115f || code === 0x1160) return JAMO.test(before) || JAMO.test(after);
  if (code <= 0x180f) return /\p{Script=Mongolian}/u.test(before) || /\p{Script=Mongolian}/u.test(after);
  if (code === 0x200c) return JOINING.test(before) && JOINING.test(after);
  if (code === 0x200d)
    return JOINING.test(before) || (/\p{Emoji}|\ufe0f/u.test(before) && /\p{Extended_Pictographic}/u.test(after));
  const isSelector = code <= 0xfe0f || (code >= 0xe0100 && code <= 0xe01ef);
  return isSelector && VARIED.test(before);
}

function characterBefore(text: string, at: number): string {
  const unit = text.charCodeAt(at - 1);
  const isLow = unit >= 0xdc00 && unit <= 0xdfff;
  return text.slice(at - (isLow ? 2 : 1), at);
}
