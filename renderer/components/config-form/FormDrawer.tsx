/** A drawer with a form: closing it and leaving the screen ask before they drop what the user has entered. */
import { Drawer } from '@mantine/core';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useDiscardQuestion } from '../use-discard-question.tsx';

/** What the form gets: closing and navigating ask if it has reported a change. */
export interface FormGuard {
  readonly onClose: () => void;
  readonly onChanged: (isChanged: boolean) => void;
}

/** Reports whether the form's entries differ from those that it opened with. */
export function useChanged(entries: readonly unknown[], onChanged: FormGuard['onChanged']): void {
  const now = JSON.stringify(entries);
  const [first] = useState(now);
  useEffect(() => onChanged(now !== first), [now, first, onChanged]);
}

export interface FormDrawerProps {
  readonly opened: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: (guard: FormGuard) => ReactNode;
}

export function FormDrawer({ opened, title, onClose, children }: FormDrawerProps) {
  const isChanged = useRef(false);
  useEffect(() => {
    if (!opened) isChanged.current = false;
  }, [opened]);
  const onChanged = useCallback((changed: boolean) => {
    isChanged.current = changed;
  }, []);
  const { ask, question } = useDiscardQuestion({ opened, isChanged: () => isChanged.current, close: onClose });
  const close = (): void => ask(onClose);
  return (
    <>
      <Drawer opened={opened} onClose={close} position="right" size={820} title={title}>
        {children({ onClose: close, onChanged })}
      </Drawer>
      {question}
    </>
  );
}
