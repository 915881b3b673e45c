/** Changes a text in its place: Ctrl+Enter saves it, Escape leaves it as it was, after a question where it was changed. */
import { Button } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { useDiscardQuestion } from '../../components/use-discard-question.tsx';
import classes from './Chat.module.css';

export interface EditTextProps {
  /** What is edited: "Your message". */
  readonly label: string;
  readonly text: string;
  /** The button that saves it. */
  readonly action: string;
  /** What saving it brings with it. */
  readonly note?: string | undefined;
  readonly mayBeEmpty?: boolean;
  readonly onSave: (text: string) => void;
  readonly onClose: () => void;
}

export function EditText({ label, text, action, note, mayBeEmpty = false, onSave, onClose }: EditTextProps) {
  const [edited, setEdited] = useState(text);
  const { ask, question } = useDiscardQuestion({ isChanged: () => edited !== text, close: onClose });
  const canSave = mayBeEmpty || edited.trim() !== '';
  const save = (): void => {
    if (canSave) onSave(edited);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      // The chat's own Escape stops the models.
      event.stopPropagation();
      ask(onClose);
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
  };
  return (
    <div className={classes.edit}>
      <textarea
        // biome-ignore lint/a11y/noAutofocus: it takes the place of the button that opened it
        autoFocus
        dir="auto"
        aria-label={label}
        className={`box ${classes.area}`}
        value={edited}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(text.length, text.length)}
        onChange={({ currentTarget }) => setEdited(currentTarget.value)}
        onKeyDown={press}
      />
      <div className={classes.editButtons}>
        <Button size="compact-sm" color="teal" disabled={!canSave} onClick={save}>
          {action}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => ask(onClose)}>
          Cancel
        </Button>
        {note !== undefined && <span className="soft">{note}</span>}
      </div>
      {question}
    </div>
  );
}
