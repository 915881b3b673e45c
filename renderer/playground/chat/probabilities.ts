/** Tokens and their probabilities in words. Pure. */
import { beginning } from '../../components/beginning.ts';

/** `62.1%`; of what is very unlikely two digits: `0.0031%`. */
export function percent(logprob: number): string {
  if (!Number.isFinite(logprob)) return '–';
  const share = 100 * Math.exp(logprob);
  if (share >= 99.995) return '100%';
  if (share >= 1) return `${share.toPrecision(3)}%`;
  return share >= 0.001 ? `${Number(share.toPrecision(2))}%` : '< 0.001%';
}

const MOST = 40;

/** A token whose white space can be seen; a part of a character has no text of its own. */
export function visibleToken(text: string): string {
  if (text === '') return '(part of a character)';
  const shown = text
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replace(/^ +| +$/g, (spaces) => '␣'.repeat(spaces.length));
  return shown.length <= MOST ? shown : `${beginning(shown, MOST)}…`;
}
