/** A small icon button. It looks like Mantine's ActionIcon, which is several times as expensive to render. */
import type { ComponentProps } from 'react';
import classes from './IconButton.module.css';

export interface IconButtonProps extends ComponentProps<'button'> {
  /** What it does. */
  readonly 'aria-label': string;
  readonly size?: 'xs' | 'sm' | 'md';
}

export function IconButton({ size = 'md', ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} className={`mantine-focus-auto mantine-active ${classes.icon}`} data-size={size} />
  );
}
