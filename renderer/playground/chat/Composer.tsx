/** Where the user writes: Enter sends, Shift+Enter starts a new line. */
import { Button } from '@mantine/core';
import { IconPlayerStopFilled, IconSend2 } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, type RefObject, useState } from 'react';
import classes from './Chat.module.css';
import { storedMessage, storeMessage } from './session.ts';

export interface ComposerProps {
  readonly busy: boolean;
  /** Why nothing can be sent; null: it can. */
  readonly missing: string | null;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  /** What the user should know while models answer. */
  readonly note: ReactNode;
}

export function Composer({ busy, missing, field, onSend, onStop, note }: ComposerProps) {
  const [text, setText] = useState(() => storedMessage(sessionStorage));
  const write = (next: string): void => {
    storeMessage(sessionStorage, next);
    setText(next);
  };
  const canSend = !busy && missing === null && text.trim() !== '';
  const send = (): void => {
    if (!canSend) return;
    onSend(text);
    write('');
  };
  return (
    <div className={classes.composer}>
      <textarea
        ref={field}
        dir="auto"
        rows={2}
        aria-label="Message"
        aria-describedby="chat-keys"
        placeholder="Write a message"
        className={`box ${classes.area}`}
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || isOfInputMethod(event)) return;
          event.preventDefault();
          send();
        }}
      />
      {busy ? (
        <Button color="gray" leftSection={<IconPlayerStopFilled size={14} aria-hidden="true" />} onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button
          color="teal"
          disabled={!canSend}
          leftSection={<IconSend2 size={14} aria-hidden="true" />}
          onClick={send}
        >
          Send
        </Button>
      )}
      <p id="chat-keys" className={`faint ${classes.keys}`}>
        {missing ?? (busy ? 'Escape stops' : 'Enter sends, Shift+Enter starts a new line')}
        {note}
      </p>
    </div>
  );
}

/** An Enter that accepts what an input method offers; Safari ends the composition before it, and gives it this code. */
function isOfInputMethod({ nativeEvent, keyCode }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || keyCode === 229;
}
