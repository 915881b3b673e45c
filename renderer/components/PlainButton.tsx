/** A button without a look of its own: a row, a word, a head of a column. Mantine's costs a list several times as much. */
import type { ComponentProps } from 'react';
import classes from './PlainButton.module.css';

export function PlainButton({ className = '', ...rest }: ComponentProps<'button'>) {
  return <button type="button" {...rest} className={`mantine-focus-auto ${classes.plain} ${className}`} />;
}
