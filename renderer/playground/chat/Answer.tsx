/** A model's answer to a turn: its text, how it ended, and what can be done with it. */

import { Menu } from '@mantine/core';
import { IconCheck, IconCopy, IconCut, IconPencil, IconRefresh } from '@tabler/icons-react';
import { memo, useEffect, useRef, useState } from 'react';
import aligned from '../../components/Aligned.module.css';
import { Failed } from '../../components/Feedback.tsx';
import { counted, duration } from '../../components/format.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { MoreMenu } from '../../components/MoreMenu.tsx';
import { visible } from '../../components/visible.ts';
import classes from './Chat.module.css';
import type { Column } from './chat-store.ts';
import type { ChatAnswer } from './conversation.ts';
import { EditText } from './EditText.tsx';
import { TokenText } from './TokenText.tsx';

export interface AnswerActions {
  readonly regenerate: (column: number) => void;
  readonly editAnswer: (turn: number, column: number, text: string) => void;
  readonly shareAnswers: (turn: number, column: number) => void;
  /** Opens the dialog that makes the conversation up to here a record. */
  readonly addRecord: (turn: number, column: number) => void;
}

export interface AnswerProps {
  readonly answer: ChatAnswer | null;
  readonly turn: number;
  readonly column: number;
  /** The model that the column has now; '': none is chosen. */
  readonly name: string;
  /** What the column is doing, at the last turn; null at earlier ones. */
  readonly doing: Column | null;
  /** Whether a model answers now. */
  readonly busy: boolean;
  /** Whether there are other columns. */
  readonly beside: boolean;
  readonly tinted: boolean;
  readonly actions: AnswerActions;
}

export const Answer = memo(({ answer, turn, column, name, doing, busy, beside, tinted, actions }: AnswerProps) => {
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setEditing(false);
    requestAnimationFrame(() => edit.current?.focus());
  };
  const label = `${answer?.model ?? `Model ${column + 1}`}, answer ${turn + 1}`;
  const growing = answer?.end === null;
  return (
    <section className={classes.answer} aria-label={label} aria-busy={growing || doing?.state === 'asked'}>
      {doing?.state === 'asked' && <p className="soft">{doing.note ?? 'Asking the model …'}</p>}
      {doing?.state === 'failed' && (
        <Failed what="The model could not answer" error={doing.error} onRetry={() => actions.regenerate(column)} />
      )}
      {answer === null && doing?.state !== 'asked' && doing?.state !== 'failed' && (
        <p className="faint">
          No answer
          {doing !== null && name !== '' && (
            <>
              {' '}
              <button
                type="button"
                className={classes.inline}
                disabled={busy}
                onClick={() => actions.regenerate(column)}
              >
                Ask this model
              </button>
            </>
          )}
        </p>
      )}
      {answer !== null && isEditing && (
        <EditText
          label={`Answer of ${answer.model}`}
          text={answer.content}
          action="Save"
          mayBeEmpty
          onSave={(text) => {
            actions.editAnswer(turn, column, text);
            close();
          }}
          onClose={close}
        />
      )}
      {answer !== null && !isEditing && <Text {...{ answer, growing, tinted }} />}
      {answer !== null && !growing && !isEditing && (
        <div className={classes.foot}>
          <Facts answer={answer} writer={answer.model === name ? null : answer.model} />
          <span className={classes.tools}>
            <Copy text={answer.content} />
            <IconButton
              ref={edit}
              size="sm"
              aria-label={`Edit ${label}`}
              title="Edit"
              disabled={busy}
              onClick={() => setEditing(true)}
            >
              <IconPencil size={14} />
            </IconButton>
            {doing !== null && name !== '' && (
              <IconButton
                size="sm"
                aria-label={`Regenerate ${label}`}
                title="Regenerate: with temperature 0 and the same settings, the same answer"
                disabled={busy}
                onClick={() => actions.regenerate(column)}
              >
                <IconRefresh size={14} />
              </IconButton>
            )}
            <MoreMenu label={`More for ${label}`}>
              {() => (
                <>
                  <Menu.Item onClick={() => actions.addRecord(turn, column)}>Add to a dataset …</Menu.Item>
                  {beside && (
                    <Menu.Item disabled={busy} onClick={() => actions.shareAnswers(turn, column)}>
                      Use this column’s answers in all columns
                    </Menu.Item>
                  )}
                </>
              )}
            </MoreMenu>
          </span>
        </div>
      )}
    </section>
  );
});

function Text({
  answer,
  growing,
  tinted,
}: {
  readonly answer: ChatAnswer;
  readonly growing: boolean;
  readonly tinted: boolean;
}) {
  if (answer.content.trim() === '' && !growing) return <p className={`faint ${aligned.plain}`}>(empty)</p>;
  if (answer.parts === null) return <p className={`own-direction ${aligned.plain}`}>{visible(answer.content)}</p>;
  return <TokenText tokens={answer.parts} {...{ growing, tinted }} />;
}

interface FactsProps {
  readonly answer: ChatAnswer;
  /** Who wrote it, where the column has another model now. */
  readonly writer: string | null;
}

/** Who wrote it, how it ended and how long it took. */
function Facts({ answer: { end, tokens, seconds }, writer }: FactsProps) {
  return (
    <span className={`num ${classes.facts}`}>
      {writer !== null && <span title="The column had this model then">by {writer}</span>}
      {end === 'edited' ? (
        <span>edited</span>
      ) : (
        <>
          <span>{counted(tokens, 'token')}</span>
          <span>{duration(seconds)}</span>
          {seconds > 0 && tokens > 1 && <span>{Math.round(tokens / seconds)} tokens/s</span>}
        </>
      )}
      {end === 'stopped' && <span>stopped</span>}
      {end === 'length' && (
        <span className={classes.cut} title="It reached the max tokens of the settings">
          <IconCut size={12} aria-hidden="true" /> cut off
        </span>
      )}
    </span>
  );
}

function Copy({ text }: { readonly text: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <IconButton
      size="sm"
      aria-label={done ? 'Copied' : 'Copy the answer'}
      title={done ? 'Copied' : 'Copy'}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setDone(true))}
    >
      {done ? <IconCheck size={14} /> : <IconCopy size={14} />}
    </IconButton>
  );
}
