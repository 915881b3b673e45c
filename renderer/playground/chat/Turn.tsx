/** A turn: what the user has said, and the models' answers side by side. */
import { IconPencil } from '@tabler/icons-react';
import { memo, useRef, useState } from 'react';
import aligned from '../../components/Aligned.module.css';
import { counted } from '../../components/format.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { Answer, type AnswerActions } from './Answer.tsx';
import classes from './Chat.module.css';
import type { Column } from './chat-store.ts';
import type { ChatTurn } from './conversation.ts';
import { EditText } from './EditText.tsx';

export interface TurnProps {
  readonly turn: ChatTurn;
  readonly index: number;
  /** How many turns follow. */
  readonly after: number;
  /** At the last turn; null at earlier ones. */
  readonly columns: readonly Column[] | null;
  /** Of the models that the columns have now; '': none is chosen. */
  readonly names: readonly string[];
  readonly busy: boolean;
  readonly tinted: boolean;
  readonly actions: AnswerActions & { readonly editUser: (turn: number, text: string) => void };
}

export const Turn = memo(({ turn, index, after, columns, names, busy, tinted, actions }: TurnProps) => {
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setEditing(false);
    requestAnimationFrame(() => edit.current?.focus());
  };
  return (
    <article className={classes.turn} aria-label={`Turn ${index + 1}`}>
      <div className={classes.user}>
        <span className={classes.you}>You</span>
        {isEditing ? (
          <EditText
            label="Your message"
            text={turn.user}
            action="Ask again"
            note={after === 0 ? undefined : `${counted(after, 'turn')} after it ${after === 1 ? 'is' : 'are'} dropped`}
            onSave={(text) => {
              setEditing(false);
              actions.editUser(index, text);
            }}
            onClose={close}
          />
        ) : (
          <>
            <p className={`own-direction ${aligned.plain}`}>{turn.user}</p>
            <IconButton
              ref={edit}
              size="sm"
              aria-label={`Edit your message ${index + 1}`}
              title="Edit, and ask again"
              disabled={busy}
              onClick={() => setEditing(true)}
            >
              <IconPencil size={14} />
            </IconButton>
          </>
        )}
      </div>
      <div className={classes.answers}>
        {turn.answers.map((answer, column) => (
          <Answer
            // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified by their place
            key={column}
            {...{ answer, column, busy, tinted, actions }}
            turn={index}
            name={names[column] ?? ''}
            doing={columns?.[column] ?? null}
            beside={turn.answers.length > 1}
          />
        ))}
      </div>
    </article>
  );
});
