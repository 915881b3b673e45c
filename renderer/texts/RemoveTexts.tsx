/** Confirms deleting texts, and lists them. */
import { useMutation } from '@tanstack/react-query';
import type { TextHeading } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { counted, number } from '../components/format.ts';
import { stageWords } from './stages.ts';
import classes from './Texts.module.css';

export interface RemoveTextsProps {
  readonly texts: readonly TextHeading[];
  readonly ids: readonly number[];
  /** `removalId`: what brings them back. */
  readonly onClose: (told?: string, removalId?: number) => void;
}

const NAMED = 12;
/** Texts that a stage needs: two on each side of the split. */
const NEEDED = 4;

export function RemoveTexts({ texts, ids, onClose }: RemoveTextsProps) {
  const removed = texts.filter(({ id }) => ids.includes(id));
  const what = counted(removed.length, 'text');
  const remove = useMutation({
    mutationFn: () => client.texts.remove({ ids: [...ids] }),
    onSuccess: ({ removalId }) => onClose(`${what} deleted.`, removalId),
  });
  const remaining = texts.filter(({ id }) => !ids.includes(id));
  const longEnough = (all: readonly TextHeading[], stage: number) => all.filter(({ words }) => words >= stage).length;
  const lost = stageWords.filter(
    (stage) => longEnough(texts, stage) >= NEEDED && longEnough(remaining, stage) < NEEDED,
  );
  return (
    <Confirm opened title={`Delete ${what}?`} action="Delete" dangerous mutation={remove} onClose={() => onClose()}>
      <ul className={classes.names}>
        {removed.slice(0, NAMED).map(({ id, title, words }) => (
          <li key={id}>
            {title} <span className="faint num">{counted(words, 'word')}</span>
          </li>
        ))}
        {removed.length > NAMED && <li className="soft">and {number(removed.length - NAMED)} more</li>}
      </ul>
      {lost.length > 0 && (
        <p className={classes.warn}>
          The remaining texts are no longer enough for {lost.length === 1 ? 'the stage' : 'the stages'} of{' '}
          {lost.join(', ')} words.
        </p>
      )}
      <p className="soft">Datasets made from them are kept. You can undo it until Braid is closed.</p>
    </Confirm>
  );
}
