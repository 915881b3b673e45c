/** Numbers as they are typed. Pure. */

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * The number that a text is, with a decimal comma, groups of digits between spaces, digits of any script; null for
 * anything else. `1,000` is thousands for some, a fraction for others: only where numbers are whole it is certain.
 */
export function readNumber(text: string, isWhole = false): number | null {
  const plain = westernDigits(text.normalize('NFKC').trim())
    .replace(/[‐-―−]/g, '-')
    .replace(/(?<=\d)[ '’](?=\d{3}(?!\d))/g, '')
    .replace('٫', ',');
  if (isWhole && /^[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3})+)$/.test(plain))
    return Number(plain.replace(/[.,]/g, ''));
  if (/^[+-]?[1-9]\d{0,2}(?:,\d{3})+$/.test(plain)) return null;
  const value = plain.replace(',', '.');
  return PLAIN.test(value) && Number.isFinite(Number(value)) ? Number(value) : null;
}

const DIGIT = /\p{Nd}/u;

/** A script has its ten digits in a row, the zero first. */
function westernDigits(text: string): string {
  return text.replace(/[^\P{Nd}0-9]/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let value = 0;
    while (value < 9 && DIGIT.test(String.fromCodePoint(code - value - 1))) value++;
    return String(value);
  });
}

/** What is wrong with what was typed for a number, in words; null: nothing, or nothing was typed. */
export function numberFault(text: string, isWhole: boolean): string | null {
  const value = readNumber(text, isWhole);
  if (text.trim() === '' || (value !== null && (!isWhole || Number.isInteger(value)))) return null;
  return isWhole ? 'Enter a whole number, such as 1000' : 'Enter a number, such as 1000 or 0.5';
}

/** Whether it may become a number with the next keys: `-`, `1e-`. */
export function isUnfinished(text: string): boolean {
  return /^(?:[+‐-―−-]|[\d.,]+e[+−-]?)?[.,]?$/i.test(text.trim());
}
