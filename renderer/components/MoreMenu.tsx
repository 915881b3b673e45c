/** The three-dot actions menu of a row or card, and of a screen or panel beside its buttons. */
import { ActionIcon } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ComponentProps, ReactNode } from 'react';
import { LazyMenu } from './LazyMenu.tsx';
import classes from './MoreMenu.module.css';

export interface MoreMenuProps {
  /** "Actions for run-0007". */
  readonly label: string;
  /** The items, rendered when the menu opens. */
  readonly children: () => ReactNode;
}

export function MoreMenu({ label, children }: MoreMenuProps) {
  return <LazyMenu trigger={<Dots label={label} />}>{children}</LazyMenu>;
}

export interface MoreButtonProps extends Pick<MoreMenuProps, 'children'> {
  readonly label?: string;
}

export function MoreButton({ label = 'More', children }: MoreButtonProps) {
  return (
    <LazyMenu
      trigger={
        <ActionIcon variant="default" size={30} aria-label={label}>
          <IconDots size={16} aria-hidden="true" />
        </ActionIcon>
      }
    >
      {children}
    </LazyMenu>
  );
}

interface DotsProps extends ComponentProps<'button'> {
  readonly label: string;
}

function Dots({ label, ...rest }: DotsProps) {
  return (
    <button type="button" {...rest} className={classes.dots} aria-label={label}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M5 12h0M12 12h0M19 12h0" />
      </svg>
    </button>
  );
}
