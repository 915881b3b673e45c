/** A small quiet button with an icon. It looks like Mantine's, which costs a chart or a card several times as much. */
import type { ComponentProps } from 'react';
import classes from './IconButton.module.css';

export interface IconButtonProps extends ComponentProps<'button'> {
  /** Says what it does. */
  readonly 'aria-label': string;
  readonly size?: 'xs' | 'sm' | 'md';
}

export function IconButton({ size = 'md', ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} className={`mantine-focus-auto mantine-active ${classes.icon}`} data-size={size} />
  );
}
