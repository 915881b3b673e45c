/**
 * Numbers as people write them: `1,234.5`, `2,5`, `1.234,56`, `3/4`, `2½`, `\frac{3}{4}`, `10^6`, `5 million`. What isn't
 * one number (dates, times, versions, ranges, words such as `x2`) is never taken for one of its parts.
 */
import { answerText, westernDigits } from './number-notation.ts';

/** The decimal mark of other numbers beside it, which decides how `1,234` and `1.234` are read. */
export type DecimalMark = '.' | ',';

/** Digits, and what joins them to more digits; exponents may be negative. */
const JOINED = String.raw`\.?\d+(?:(?:\*\*|[-.,:/'’_*×+−–\u00a0\u2009\u202f]|\^[-−]?)\d+)*`;
const POWER_OF_TEN = String.raw`(?:[eE][+-]?\d+(?![\p{L}\p{N}]))?`;
const MIXED = String.raw`(?<![\d.,])\d+ \d+/\d+(?![\d.,/])`;
/** Thousands with spaces, where they are no list of other digits. */
const SPACED = String.raw`(?<![\d.,] ?)\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?![\d:/]| \d)`;
const EXPRESSION = new RegExp(JOINED + POWER_OF_TEN, 'gu');
const ANSWER = new RegExp(`${MIXED}|${SPACED}|${JOINED}${POWER_OF_TEN}`, 'gu');

/** Letters that make words with digits: other scripts write numbers between their words without spaces. */
const LETTER = String.raw`[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]]`;
/** `x2`, `GPT-4`, `cm^2`, `x_{2}`, `...5`. */
const WORD_BEFORE = new RegExp(String.raw`${LETTER}(?:[\-‐‑]|[_\^]\{?)?$|[\)\]\}]\^\{?$`, 'v');
const WORD_AFTER = new RegExp(`^${LETTER}+`, 'v');
const ORDINAL = /^(?:st|nd|rd|th|D|s)$/;
const UNIT = /^(?:[kcm]m|[km]?g|ml|min|sec|hrs?|lbs?|oz|ft|mph|kmh|px|kWh|EUR|USD|GBP)$/;
const SIGN_BEFORE = /(?:^|[^\p{L}\p{N}])[\-−–](?:[$€£¥₹]\s?)?$|[=:\(]\s?[\-−–]\s$/v;
const YEAR_OF_DATE =
  /\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?,?(?:\s+\d{1,2}(?:st|nd|rd|th)?,?)?\s+$/i;
const SCALE = /^(?:[\s\u00a0]?(hundred|thousand|million|billion|trillion)\b|(百|千|万|萬|만|亿|億|억))/iu;
const SCALES: Readonly<Record<string, number>> = {
  hundred: 2,
  thousand: 3,
  million: 6,
  billion: 9,
  trillion: 12,
  百: 2,
  千: 3,
  万: 4,
  萬: 4,
  만: 4,
  亿: 8,
  億: 8,
  억: 8,
};

interface Run {
  readonly text: string;
  /** What stands before and after it. */
  readonly before: string;
  readonly after: string;
  readonly sign: number;
}

/**
 * The numbers in a text, in order: `-3`, `1,234.5`, `$18`, `2,5`, `.5`, `42.` but not those inside words such as `x2`.
 * An expression gives its parts: `8/2+1` is 8, 2, 1.
 */
export function numbersIn(text: string): number[] {
  return runsIn(westernDigits(text), EXPRESSION)
    .filter(({ before, after }) => !WORD_BEFORE.test(before) && !WORD_AFTER.test(after))
    .flatMap((run) => {
      const whole = isListed(run) ? null : decimal(run.text);
      if (whole !== null) return [run.sign * whole];
      const parts = run.text.split(isListed(run) ? /[^\d.]+/ : /[^\d.,]+/).map((part) => decimal(part) ?? part);
      const values = parts.flatMap((part) =>
        typeof part === 'number' ? part : part.split(',').map((one) => decimal(one)),
      );
      return values.flatMap((value, i) => (value === null ? [] : [i === 0 ? run.sign * value : value]));
    });
}

/** The last number of a text, as final answers to sums are graded; null if there is none, or none that is certain. */
export function lastNumber(text: string, mark: DecimalMark = '.'): number | null {
  const run = lastRun(text);
  return run === undefined ? null : readRun(run, mark);
}

/** GSM8K's line of the answer. */
const MARKED_LINE = /####[ \t]*([-−+$€£]?[ \t]?[\d.,].*)/g;

/** The number that a worked solution comes to: after its last `####`, in its last `\boxed{}`, or else its last one. */
export function solutionNumber(text: string, mark: DecimalMark = '.'): number | null {
  const marked = [...text.matchAll(MARKED_LINE)].at(-1)?.[1];
  const box = marked === undefined ? boxed(text) : null;
  if (box === null) return lastNumber(marked ?? text, mark);
  // Several are coordinates or a list.
  return wholeNumberText(box, mark) ?? (numbersIn(box).length === 1 ? lastNumber(box, mark) : null);
}

/** What stands in the last box of LaTeX; null: there is none that ends. */
function boxed(text: string): string | null {
  const from = text.lastIndexOf('\\boxed{');
  if (from < 0) return null;
  const start = from + '\\boxed{'.length;
  for (let [at, depth] = [start, 1]; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}') depth--;
    if (depth === 0) return text.slice(start, at);
  }
  return null;
}

/** What may stand around the number of a cell: a currency, a unit. */
const BEFORE_CELL = /^(?:[-−–+]?(?:[$€£¥₹]\s?)?|(?:[$€£¥₹]|EUR|USD|GBP)\s?[-−–+]?)$/;
const AFTER_CELL = /^[\s\u00a0]?(?:[%‰$€£¥₹]|°?[\p{L}°][\p{L}\d²³/^]{0,11})?\.?$/u;

/** The number that a whole text is, with a currency or a unit; null for anything else. */
export function wholeNumberText(text: string, mark: DecimalMark = '.'): number | null {
  if (text.length > LONGEST_CELL) return null;
  const run = lastRun(text.trim());
  if (run === undefined || !BEFORE_CELL.test(run.before)) return null;
  return AFTER_CELL.test(run.after.replace(SCALE, '')) ? readRun(run, mark) : null;
}

/** The decimal mark that a text's last number shows; null: none, as in `42`, or either, as in `1,234` and `1.234`. */
export function decimalMarkOf(text: string): DecimalMark | null {
  const digits = lastRun(text)?.text.replace(/[eE].*$/, '') ?? '';
  const marks = digits.match(/[.,]/g) ?? [];
  if (EITHER.test(digits) || decimal(digits) === null) return null;
  const [first, last] = [marks[0], marks.at(-1)];
  if (last === undefined) return null;
  const groupsOnly = marks.length > 1 && first === last;
  return (last === '.') !== groupsOnly ? '.' : ',';
}

/** Each run of digits, with what joins them. */
function runsIn(text: string, pattern: RegExp): Run[] {
  return Array.from(text.matchAll(pattern), (found) => {
    const end = found.index + found[0].length;
    // A few characters decide: whole texts would take quadratic time.
    const before = text.slice(Math.max(0, found.index - AROUND), found.index);
    const sign = SIGN_BEFORE.test(before) ? -1 : 1;
    return { text: found[0], before, after: text.slice(end, end + AROUND), sign };
  }).filter(({ text: run, before }) => !run.startsWith('.') || !/[\p{L}\p{N}.]$/u.test(before));
}

const AROUND = 40;

const LONGEST_CELL = 1000;
/** Characters at the end of a text that are read first. */
const TAIL = 1000;

/** The last run that isn't part of a word. */
function lastRun(text: string): Run | undefined {
  for (let size = TAIL; ; size *= 4) {
    const runs = runsIn(answerText(text.slice(-size)), ANSWER);
    const at = runs.findLastIndex(
      ({ before, after }) => !WORD_BEFORE.test(before) && !ORDINAL.test(WORD_AFTER.exec(after)?.[0] ?? ''),
    );
    // The first run of a tail may be cut in two.
    if (at > 0 || size >= text.length) return runs[at];
  }
}

/** `(1,2)`: coordinates or a list. */
function isListed({ text, before, after }: Run): boolean {
  return text.includes(',') && !THOUSANDS.test(text) && /[[({]$/.test(before) && /^[\])}]/.test(after);
}

function readRun(run: Run, mark: DecimalMark): number | null {
  const { text, before, after, sign } = run;
  const [word = ''] = WORD_AFTER.exec(after) ?? [];
  if (isListed(run) || (word !== '' && !UNIT.test(word)) || /^\s?[ap]\.?m\b/i.test(after)) return null;
  // A tolerance, a root, a multiple of one or of π.
  if (/(?:±|\+\/?-|√|\\sqrt\s*\{?)\s*$/.test(before) || /^\s?(?:√|\\(?:sqrt|pi)\b)/.test(after)) return null;
  if (/^\d{4}$/.test(text) && YEAR_OF_DATE.test(before)) return null;
  const value = decimal(text, mark) ?? compound(text, mark);
  const [, ...names] = SCALE.exec(after) ?? [];
  const scale = SCALES[names.find(Boolean)?.toLowerCase() ?? ''] ?? 0;
  return value === null ? null : sign * (scale === 0 ? value : Number(`${value}e${scale}`));
}

/** A fraction, a mixed number or a power. */
function compound(text: string, mark: DecimalMark): number | null {
  const [, whole = '0', upper = '', lower = ''] = /^(?:(\d+) )?([\d.,]+)\/([\d.,]+)$/.exec(text) ?? [];
  const [a, b] = [decimal(upper, mark), decimal(lower, mark)];
  if (a !== null && b !== null && b !== 0) return Number(whole) + a / b;
  const [, factor, base = '', exponent = ''] = /^(?:([\d.,]+)[×*])?([\d.,]+)(?:\^|\*\*)([-−]?\d+)$/.exec(text) ?? [];
  const [c, d] = [factor === undefined ? 1 : decimal(factor, mark), decimal(base, mark)];
  if (c === null || d === null) return null;
  const power = Number(exponent.replace('−', '-'));
  const value = d === 10 ? Number(`${c}e${power}`) : c * d ** power;
  return Number.isFinite(value) ? value : null;
}

const EITHER = /^(?!0)\d{1,3}[.,]\d{3}$/;
const THOUSANDS = /^(?!0)\d{1,3}(?:,\d{3})+(?:\.\d+)?$|^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;
const DOTS = /^(?!0)\d{1,3}(?:\.\d{3})+(?:,\d+)?$/;
const OTHERS = /^(?!0)\d{1,3}(?:([ '’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$|^\d+(?:_\d+)+(?:\.\d+)?$/;

/** One number with its decimal mark and groups of digits; null for anything else, and for more digits than a number holds. */
function decimal(text: string, mark: DecimalMark = '.'): number | null {
  const [, digits = '', exponent = ''] = /^([^eE]*)([eE][+-]?\d+)?$/.exec(text) ?? [];
  const plain = plainDigits(digits, mark);
  if (plain === null) return null;
  const value = Number(plain + exponent);
  return Number.isFinite(value) && keepsDigits(plain, value) ? value : null;
}

function plainDigits(text: string, mark: DecimalMark): string | null {
  if (EITHER.test(text)) return text.includes(mark) ? text.replace(mark, '.') : text.replace(/[.,]/, '');
  if (THOUSANDS.test(text)) return text.replaceAll(',', '');
  if (DOTS.test(text)) return text.replaceAll('.', '').replace(',', '.');
  if (OTHERS.test(text)) return text.replaceAll(/[^\d.,]/g, '').replace(',', '.');
  if (/^\d+,\d+$/.test(text)) return text.replace(',', '.');
  return /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? text : null;
}

/** Beyond this, a difference that rounding hides can be larger than what rewards tolerate. */
const ROUNDED_FROM = 2 ** 31;

function keepsDigits(plain: string, value: number): boolean {
  if (Math.abs(value) < ROUNDED_FROM) return true;
  const significant = (digits: string): string =>
    digits
      .replace(/e.*$/, '')
      .replace('.', '')
      .replace(/^0+|(?<!0)0+$/g, '');
  return significant(plain) === significant(String(value));
}
