/**
 * An unstyled button for rows, inline words and column headers. Mantine's UnstyledButton is several times as expensive.
 */
import type { ComponentProps } from 'react';
import classes from './PlainButton.module.css';

export function PlainButton({ className = '', ...rest }: ComponentProps<'button'>) {
  return <button type="button" {...rest} className={`mantine-focus-auto ${classes.plain} ${className}`} />;
}
