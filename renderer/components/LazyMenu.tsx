/**
 * A menu that is created when first opened; until then only its button is rendered. A Mantine Menu is many times as
 * expensive.
 */
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

export interface LazyMenuProps {
  /** The button. */
  readonly trigger: ReactElement<ComponentProps<'button'>>;
  /** The items. */
  readonly children: () => ReactNode;
}

export function LazyMenu({ trigger, children }: LazyMenuProps) {
  const [asked, setAsked] = useState(false);
  if (asked) return <OpenedMenu trigger={trigger}>{children}</OpenedMenu>;
  return cloneElement(trigger, { 'aria-haspopup': 'menu', 'aria-expanded': false, onClick: () => setAsked(true) });
}

function OpenedMenu({ trigger, children }: LazyMenuProps) {
  const [opened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // This button replaces the one that was pressed. It takes the focus, so that closing the menu returns it here.
  useLayoutEffect(() => {
    button.current?.focus();
    setOpened(true);
  }, []);
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>{cloneElement(trigger, { ref: button })}</Menu.Target>
      <Menu.Dropdown ref={chooseFirst}>{opened && children()}</Menu.Dropdown>
    </Menu>
  );
}

/** Mantine gives the focus to the first item also where that is disabled and can't take it: no key would reach the menu. */
function chooseFirst(menu: HTMLElement | null): void {
  menu?.querySelector('[data-menu-item]:not(:disabled)')?.setAttribute('data-autofocus', 'true');
}
