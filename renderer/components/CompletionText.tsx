import type { ChatMessage, SampleView } from '../../main/api/contract/index.ts';
import classes from './Aligned.module.css';
import { Aligned } from './Aligned.tsx';
import type { WordKind } from './aligned-words.ts';
import { Conversation } from './Conversation.tsx';
import { endingOf } from './episode-words.ts';
import { visible } from './visible.ts';

export interface CompletionTextProps {
  readonly sample: Pick<SampleView, 'completion' | 'alignment' | 'show' | 'messages'> &
    Partial<Pick<SampleView, 'terminated' | 'failure'>>;
  readonly label: string;
  readonly hidden?: ReadonlySet<WordKind>;
  /** It is being generated. */
  readonly growing?: boolean;
}

/** A model's completion: a conversation where it had several turns, aligned word by word if there is an exact target, otherwise as the text that it is. */
export function CompletionText({ sample, label, hidden, growing = false }: CompletionTextProps) {
  const { completion, alignment, show, messages } = sample;
  if (messages !== undefined)
    return (
      <>
        <Conversation {...{ messages, label, growing }} />
        {!growing && <Ending messages={messages} sample={sample} />}
      </>
    );
  if (alignment !== null) return <Aligned words={alignment.words} label={label} {...(hidden && { hidden })} />;
  if (completion.trim() === '' && !growing) return <p className={`own-direction ${classes.plain}`}>(empty)</p>;
  if (show === 'json' || show === 'code')
    return <pre className={classes.plain}>{visible(show === 'json' ? indented(completion) : completion)}</pre>;
  return <p className={`own-direction ${classes.plain}`}>{visible(completion)}</p>;
}

/** Where an episode ended and why. */
function Ending({
  messages,
  sample,
}: { readonly messages: readonly ChatMessage[] } & Pick<CompletionTextProps, 'sample'>) {
  const words = endingOf(messages, sample);
  return words === null ? null : <p className={classes.ending}>{words}</p>;
}

/** JSON over several lines; what isn't JSON as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
