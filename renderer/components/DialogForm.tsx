/** A dialog whose form starts one thing: it is mounted while it is open, and an error stays until it is sent again. */
import { Button, Modal } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import classes from './DialogForm.module.css';
import { Failed } from './Feedback.tsx';
import { SubmitForm } from './SubmitForm.tsx';
import type { DiscardQuestion } from './use-discard-question.tsx';

export interface DialogProps {
  readonly onClose: () => void;
}

export interface DialogFormProps extends DialogProps {
  readonly title: string;
  /** The button's words. */
  readonly action: string;
  /** What an error is about: "The download could not be started". */
  readonly what: string;
  readonly disabled: boolean;
  /** What asks before closing drops what was entered. */
  readonly discard: DiscardQuestion;
  readonly mutation: Pick<UseMutationResult<unknown, Error, void>, 'mutate' | 'error' | 'isPending'>;
  readonly size?: 'md' | 'lg' | 'xl';
  readonly children: ReactNode;
}

export function DialogForm({ onClose, title, action, what, disabled, discard, mutation, ...more }: DialogFormProps) {
  const { size = 'lg', children } = more;
  const close = (): void => discard.ask(onClose);
  return (
    <>
      <Modal opened onClose={close} title={title} size={size}>
        <SubmitForm className={classes.dialog} onSubmit={() => mutation.mutate()}>
          {children}
          {mutation.error !== null && <Failed what={what} error={mutation.error} />}
          <div className={classes.buttons}>
            <Button variant="default" onClick={() => discard.proceed(onClose)}>
              Cancel
            </Button>
            <Button type="submit" disabled={disabled} loading={mutation.isPending}>
              {action}
            </Button>
          </div>
        </SubmitForm>
      </Modal>
      {discard.question}
    </>
  );
}
