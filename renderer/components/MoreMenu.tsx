/** The three dots of a row or a card, with what can be done to it. */
import type { ComponentProps, ReactNode } from 'react';
import { DemandMenu } from './DemandMenu.tsx';
import classes from './MoreMenu.module.css';

export interface MoreMenuProps {
  /** "Actions for run-0007". */
  readonly label: string;
  /** The items, made when the menu is asked for. */
  readonly children: () => ReactNode;
}

export function MoreMenu({ label, children }: MoreMenuProps) {
  return <DemandMenu face={<Dots label={label} />}>{children}</DemandMenu>;
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
