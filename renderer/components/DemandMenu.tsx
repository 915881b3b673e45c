/** A menu that is made when it is asked for: before that, only its button is on the screen. Mantine's costs many buttons. */
import { Menu } from '@mantine/core';
import {
  type ComponentProps,
  cloneElement,
  type ReactElement,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

export interface DemandMenuProps {
  /** The button. */
  readonly face: ReactElement<ComponentProps<'button'>>;
  /** The items. */
  readonly children: () => ReactNode;
}

export function DemandMenu({ face, children }: DemandMenuProps) {
  const [asked, setAsked] = useState(false);
  if (asked) return <OpenedMenu face={face}>{children}</OpenedMenu>;
  return cloneElement(face, { 'aria-haspopup': 'menu', 'aria-expanded': false, onClick: () => setAsked(true) });
}

function OpenedMenu({ face, children }: DemandMenuProps) {
  const [opened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // This button is not the one that was pressed: it takes over the focus, so that it comes back when the menu closes.
  useLayoutEffect(() => {
    button.current?.focus();
    setOpened(true);
  }, []);
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>{cloneElement(face, { ref: button })}</Menu.Target>
      <Menu.Dropdown>{opened && children()}</Menu.Dropdown>
    </Menu>
  );
}
