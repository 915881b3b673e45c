import { type Answer, words } from 'braid';

/** 1 for the right answer, whatever its case, spaces and final punctuation; otherwise 0. */
export function reward({ record, completion }: Answer<{ answer: string }>): number {
  return plain(completion) === plain(record.answer) ? 1 : 0;
}

function plain(text: string): string {
  // One way to write é: a letter and its accent are the letter with the accent.
  return words(text.normalize('NFC').toLowerCase())
    .join(' ')
    .replace(/(?<![.!?])[.!?]+$/, '');
}
