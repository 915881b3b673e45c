/** A tooltip that is created on hover: a Mantine Tooltip is more expensive to render than most buttons. */
import { Tooltip } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import classes from './Hint.module.css';

/** Delay before it shows, so that passing over an element shows nothing. */
const DELAY_MS = 300;

export interface HintProps {
  readonly label: string | undefined;
  readonly position?: 'top' | 'right';
  /** A single element. */
  readonly children: ReactNode;
}

export function Hint({ label, position = 'top', children }: HintProps) {
  const [target, setTarget] = useState<HTMLElement | null>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has no box of its own; its child receives the pointer
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
    const timer = setTimeout(() => setOpened(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return opened && <Tooltip opened label={label} position={position} target={target} multiline maw={340} />;
}
