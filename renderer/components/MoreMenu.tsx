/** The three dots of a row or a card, with what can be done to it. A menu costs more than a row: it is made on demand. */
import { Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import classes from './MoreMenu.module.css';

export interface MoreMenuProps {
  /** "Actions for run-0007". */
  readonly label: string;
  /** The items, made when the menu is asked for. */
  readonly children: () => ReactNode;
}

export function MoreMenu({ label, children }: MoreMenuProps) {
  const [asked, setAsked] = useState(false);
  if (asked) return <OpenedMenu label={label}>{children}</OpenedMenu>;
  return <Dots label={label} onClick={() => setAsked(true)} />;
}

function OpenedMenu({ label, children }: MoreMenuProps) {
  const [opened, setOpened] = useState(false);
  const dots = useRef<HTMLButtonElement>(null);
  // These dots are not those that were pressed: they take over the focus, so that it comes back when the menu closes.
  useLayoutEffect(() => {
    dots.current?.focus();
    setOpened(true);
  }, []);
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>
        <Dots ref={dots} label={label} />
      </Menu.Target>
      <Menu.Dropdown>{opened && children()}</Menu.Dropdown>
    </Menu>
  );
}

interface DotsProps extends React.ComponentProps<'button'> {
  readonly label: string;
}

function Dots({ label, ...rest }: DotsProps) {
  return (
    <button type="button" aria-haspopup="menu" {...rest} className={classes.dots} aria-label={label}>
      <IconDots size={15} aria-hidden="true" />
    </button>
  );
}
