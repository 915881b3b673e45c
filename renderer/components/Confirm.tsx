/** Asks for confirmation before something irreversible or slow; a failure is shown in the dialog. */
import { Button, Modal } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import classes from './Confirm.module.css';
import { Failed } from './Feedback.tsx';

export interface ConfirmProps {
  readonly opened: boolean;
  readonly title: string;
  /** Button label, a verb. */
  readonly action: string;
  readonly dangerous?: boolean;
  /** Disables the action. */
  readonly disabled?: boolean;
  readonly mutation: Pick<UseMutationResult<unknown, unknown, void>, 'mutate' | 'isPending' | 'error' | 'reset'>;
  readonly onClose: () => void;
  /** What will happen, and what will be lost. */
  readonly children: ReactNode;
}

export function Confirm({
  opened,
  title,
  action,
  dangerous = false,
  disabled = false,
  mutation,
  onClose,
  children,
}: ConfirmProps) {
  const close = (): void => {
    mutation.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <div className={classes.text}>{children}</div>
      {mutation.error !== null && <Failed error={mutation.error} />}
      <div className={classes.buttons}>
        <Button variant="default" onClick={close} data-autofocus>
          Cancel
        </Button>
        <Button
          color={dangerous ? 'red' : 'teal'}
          disabled={disabled}
          loading={mutation.isPending}
          onClick={() => mutation.mutate()}
        >
          {action}
        </Button>
      </div>
    </Modal>
  );
}
