/** Asks before typed entries are dropped: by closing their form, leaving the screen or closing the tab. */
import { Button, Group, Modal } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { guardLocation } from '../frame/hash-location.ts';
import { useUnloadWarning } from './use-unload-warning.ts';

export interface DiscardQuestionOptions {
  /** Whether the form is shown. */
  readonly opened?: boolean;
  /** Whether something was entered that isn't saved. */
  readonly isChanged: () => boolean;
  /** Closes the form without asking. */
  readonly close: () => void;
}

export interface DiscardQuestion {
  /** Calls what drops the entries: at once if there are none, otherwise if the user agrees. */
  readonly ask: (drop: () => void) => void;
  /** Calls what follows once the entries are saved, such as navigating, without asking. */
  readonly proceed: (next: () => void) => void;
  /** To be rendered beside the form's dialog. */
  readonly question: ReactNode;
}

export function useDiscardQuestion({ opened = true, isChanged, close }: DiscardQuestionOptions): DiscardQuestion {
  const [asked, setAsked] = useState<{ readonly drop: () => void } | null>(null);
  const latest = useRef({ isChanged, close });
  latest.current = { isChanged, close };
  // Closing a form may itself navigate.
  const isDropping = useRef(false);
  const proceed = (next: () => void): void => {
    isDropping.current = true;
    next();
    isDropping.current = false;
  };
  useUnloadWarning(() => opened && isChanged());
  // Together with the form: one that is gone from the screen would ask where nobody sees it, and keep who leaves.
  useLayoutEffect(() => {
    if (!opened) return;
    const release = guardLocation((leave) => {
      if (isDropping.current || !latest.current.isChanged()) return false;
      const drop = (): void => {
        latest.current.close();
        leave();
      };
      setAsked({ drop });
      return true;
    });
    return () => {
      release();
      setAsked(null);
    };
  }, [opened]);
  return {
    ask: (drop) => (isChanged() ? setAsked({ drop }) : drop()),
    proceed,
    // Mounted late: it would take the Escape that opens it as one to close it.
    question: asked !== null && (
      <Modal
        opened
        onClose={() => setAsked(null)}
        title="Discard your changes?"
        zIndex={300}
        // The form's own overlay is below it.
        overlayProps={{ backgroundOpacity: 0.3 }}
      >
        <p>What you have entered is not saved.</p>
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={() => setAsked(null)} data-autofocus>
            Keep editing
          </Button>
          <Button
            color="red"
            onClick={() => {
              setAsked(null);
              proceed(asked.drop);
            }}
          >
            Discard
          </Button>
        </Group>
      </Modal>
    ),
  };
}
