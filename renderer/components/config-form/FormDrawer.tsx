/** A drawer with a form: Escape, a click beside it and Cancel ask before they drop what the user has filled in. */
import { Button, Drawer, Group, Modal } from '@mantine/core';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';

/** What the form gets: closing asks if it has reported a change. */
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
  const [asking, setAsking] = useState(false);
  useEffect(() => {
    if (!opened) isChanged.current = false;
  }, [opened]);
  const onChanged = useCallback((changed: boolean) => {
    isChanged.current = changed;
  }, []);
  const close = (): void => (isChanged.current ? setAsking(true) : onClose());
  return (
    <>
      <Drawer opened={opened} onClose={close} position="right" size={820} title={title}>
        {children({ onClose: close, onChanged })}
      </Drawer>
      {/* Mounted late: it would take the Escape that opens it as one to close it. */}
      {opened && asking && (
        <Modal opened onClose={() => setAsking(false)} title="Discard your changes?" zIndex={300}>
          <p>What you have filled in is not saved.</p>
          <Group justify="flex-end" mt="lg">
            <Button variant="default" onClick={() => setAsking(false)} data-autofocus>
              Keep editing
            </Button>
            <Button
              color="red"
              onClick={() => {
                setAsking(false);
                onClose();
              }}
            >
              Discard
            </Button>
          </Group>
        </Modal>
      )}
    </>
  );
}
