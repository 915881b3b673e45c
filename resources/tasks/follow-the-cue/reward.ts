import { alignment, type Step, type Turn, words } from 'braid';

interface Cues {
  cue: string;
  rest: string;
  next_cue: string;
  next_rest: string;
}

/**
 * A prompter: after the model has begun, it says a word of one of the texts, and the model has to continue from there to
 * the end of that text, and then once more from another word. The model can't know them before it reads them. Each is worth a
 * half if it is right word for word; whoever misses one is out, with up to a quarter for the words that are right.
 */
export function step({ record, messages, turn }: Turn<Cues>): Step {
  if (turn === 1) return { message: `The word is ${record.cue}`, done: false };
  const said = messages[messages.length - 1].content;
  const rest = turn === 2 ? record.rest : record.next_rest;
  if (words(said).join(' ') !== words(rest).join(' ')) return { reward: alignment(rest, said) / 4, done: true };
  if (turn === 2) return { message: `The word is ${record.next_cue}`, reward: 0.5, done: false };
  return { reward: 0.5, done: true };
}
