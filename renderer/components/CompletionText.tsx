import type { SampleView } from '../../main/api/contract/index.ts';
import classes from './Aligned.module.css';
import { Aligned } from './Aligned.tsx';
import type { WordKind } from './aligned-words.ts';

export interface CompletionTextProps {
  readonly sample: Pick<SampleView, 'completion' | 'alignment'>;
  readonly label: string;
  readonly hidden?: ReadonlySet<WordKind>;
}

/** A model's completion: aligned word by word if there is an exact target, otherwise as plain text. */
export function CompletionText({ sample: { completion, alignment }, label, hidden }: CompletionTextProps) {
  if (alignment !== null) return <Aligned words={alignment.words} label={label} {...(hidden && { hidden })} />;
  return <p className={`own-direction ${classes.plain}`}>{completion.trim() === '' ? '(empty)' : completion}</p>;
}
