/** What Python's str says of characters. */

/** What `str.isspace` says yes to, for the inside of a regular expression's brackets. */
export const SPACE = '\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** What `str.splitlines` ends lines at. */
const ENDS = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
export const LINE_END = new RegExp(`\\r\\n|[${ENDS}]`, 'g');

const DIGIT =
  /^[\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒፩-፱᧚\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]+$/u;

/** The tests of str, by name. A text is never empty here, except in isascii and isprintable. */
export const CHARACTER_TESTS: Readonly<Record<string, (text: string) => boolean>> = {
  isspace: (text) => new RegExp(`^[${SPACE}]+$`).test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isdecimal: (text) => /^\p{Nd}+$/u.test(text),
  isdigit: (text) => DIGIT.test(text),
  isalnum: (text) => /^[\p{L}\p{N}]+$/u.test(text),
  islower: (text) => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text),
  isupper: (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text),
  istitle: isTitle,
  isidentifier: (text) => /^[\p{XIDS}_]\p{XIDC}*$/u.test(text),
  isascii: (text) => !/[\u0080-\uffff]/.test(text),
  isprintable: (text) => [...text].every(isPrintable),
};

export function isPrintable(character: string): boolean {
  return character === ' ' || !/[\p{C}\p{Z}]/u.test(character);
}

function isTitle(text: string): boolean {
  let [inside, any] = [false, false];
  for (const character of text) {
    if (/[\p{Uppercase}\p{Lt}]/u.test(character)) {
      if (inside) return false;
      [inside, any] = [true, true];
    } else if (/\p{Lowercase}/u.test(character)) {
      if (!inside) return false;
      any = true;
    } else inside = false;
  }
  return any;
}

const TITLE: Readonly<Record<string, string>> = {
  Ǆ: 'ǅ',
  ǅ: 'ǅ',
  ǆ: 'ǅ',
  Ǉ: 'ǈ',
  ǈ: 'ǈ',
  ǉ: 'ǈ',
  Ǌ: 'ǋ',
  ǋ: 'ǋ',
  ǌ: 'ǋ',
  Ǳ: 'ǲ',
  ǲ: 'ǲ',
  ǳ: 'ǲ',
  ß: 'Ss',
  ﬀ: 'Ff',
  ﬁ: 'Fi',
  ﬂ: 'Fl',
  ﬃ: 'Ffi',
  ﬄ: 'Ffl',
  ﬅ: 'St',
  ﬆ: 'St',
};

/** A character at the beginning of a title; null where it has a form of its own that isn't known here. */
export function titleOf(character: string): string | null {
  if (TITLE[character] !== undefined) return TITLE[character] ?? null;
  // Georgian has capitals that titles don't use.
  if (/^[\u10d0-\u10ff]$/.test(character)) return character;
  const upper = character.toUpperCase();
  return upper.length > character.length || /[\u1f80-\u1fff]/.test(character) ? null : upper;
}

/** Python's str.title: a capital after anything that has no case. */
export function titleCase(text: string): string | null {
  // A sigma at the end of a word is another one.
  const lower = [...text.toLowerCase()];
  let result = '';
  let inside = false;
  const all = [...text];
  if (lower.length !== all.length) return null;
  for (const [i, character] of all.entries()) {
    const title = inside ? lower[i] : titleOf(character);
    if (title === null) return null;
    result += title;
    inside = /\p{Cased}/u.test(character);
  }
  return result;
}
