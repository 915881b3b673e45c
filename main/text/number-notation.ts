/** Other ways to write digits, fractions and powers, in the plain one: LaTeX, `½`, `10⁶`, digits of other scripts. */

const DIGIT = /\p{Nd}/u;

/** Fullwidth signs, and digits of any script, as the keyboard has them: `٤٢`, `४२`, `４２`. */
export function westernDigits(text: string): string {
  return text.replaceAll(/[^\P{Nd}0-9]|[．，－＋٫٬]/gu, (sign) => {
    if (!DIGIT.test(sign)) return { '٫': '.', '٬': ',' }[sign] ?? sign.normalize('NFKC');
    // A script has its ten digits in a row, the zero first.
    const code = sign.codePointAt(0) ?? 0;
    let value = 0;
    while (value < 9 && DIGIT.test(String.fromCodePoint(code - value - 1))) value++;
    return String(value);
  });
}

const LATEX: readonly (readonly [RegExp, string])[] = [
  [/\\text\s*\{([^{}]*)\}/g, ' $1'],
  [/(\d)\s*\\+[dt]?frac/g, '$1 \\frac'],
  [/(?<!\\)\\+[dt]?frac\s*\{\s*(\d[\d.,]*)\s*\}\s*\{\s*(\d[\d.,]*)\s*\}/g, '$1/$2'],
  [/(?<!\\)\\+[dt]?frac\s*(\d)\s*(\d)/g, '$1/$2'],
  [/(\d)(?:\{,\}|\\[,;:!])(?=\d{3})/g, '$1\u2009'],
  [/\\(?:times|cdot)\b/g, '×'],
  [/\\([%$])/g, '$1'],
  [/\^\s*\{\s*([-−]?\d+)\s*\}/g, '^$1'],
];

const DIGITS_ABOVE = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A text with the numbers of its answer in plain notation. */
export function answerText(text: string): string {
  let plain = westernDigits(text);
  if (plain.includes('\\') || plain.includes('{')) for (const [from, to] of LATEX) plain = plain.replaceAll(from, to);
  return plain
    .replaceAll(
      /(\d?)([¼-¾⅐-⅞])/g,
      (_, whole: string, sign: string) => `${whole}${whole && ' '}${sign.normalize('NFKC')}`,
    )
    .replaceAll(
      /(⁻?)([⁰¹²³⁴-⁹]+)/g,
      (_, minus: string, digits: string) =>
        `^${minus && '-'}${Array.from(digits, (one) => DIGITS_ABOVE.indexOf(one)).join('')}`,
    )
    .replaceAll(/(\d)\s?[⁄∕/]\s?(?=\d)/g, '$1/')
    .replaceAll(/(\d)\s?[x×*·]\s?10\s?\^\s?(?=[-−]?\d)/g, '$1×10^');
}
