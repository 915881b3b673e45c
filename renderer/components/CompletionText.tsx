import type { SampleView } from '../../main/services/samples.ts';
import classes from './Aligned.module.css';
import { Aligned } from './Aligned.tsx';
import type { WordKind } from './aligned-words.ts';

export interface CompletionTextProps {
  readonly sample: Pick<SampleView, 'completion' | 'alignment'>;
  readonly label: string;
  readonly hidden?: ReadonlySet<WordKind>;
}

/** What a model wrote: word by word against the target where there is an exact one, else as it stands. */
export function CompletionText({ sample: { completion, alignment }, label, hidden }: CompletionTextProps) {
  if (alignment !== null) return <Aligned words={alignment.words} label={label} {...(hidden && { hidden })} />;
  return <p className={classes.plain}>{completion.trim() === '' ? '(nothing)' : completion}</p>;
}
