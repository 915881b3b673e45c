/** A word on what a thing is, for who points at it. Mantine's tooltip costs more than most buttons: it is made on demand. */
import { Tooltip } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import classes from './Hint.module.css';

/** Until it shows: who only passes by is not told. */
const LATE_MS = 300;

export interface HintProps {
  readonly label: string | undefined;
  readonly position?: 'top' | 'right';
  /** One element. */
  readonly children: ReactNode;
}

export function Hint({ label, position = 'top', children }: HintProps) {
  const [target, setTarget] = useState<HTMLElement | null>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has no box of its own; what it holds is what is pointed at
    <span
      className={classes.hint}
      onMouseEnter={({ currentTarget }) => setTarget(currentTarget.firstElementChild as HTMLElement | null)}
      onMouseLeave={() => setTarget(null)}
      onMouseDown={() => setTarget(null)}
    >
      {children}
      {target !== null && label !== undefined && <Shown {...{ label, position, target }} />}
    </span>
  );
}

interface ShownProps {
  readonly label: string;
  readonly position: 'top' | 'right';
  readonly target: HTMLElement;
}

function Shown({ label, position, target }: ShownProps) {
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOpened(true), LATE_MS);
    return () => clearTimeout(timer);
  }, []);
  return opened && <Tooltip opened label={label} position={position} target={target} multiline maw={340} />;
}
