/** A label above a control that isn't a field of its own. */
import { type ReactNode, useId } from 'react';
import classes from './Playground.module.css';

export interface FieldProps {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}

export function Field({ label, children }: FieldProps) {
  const id = useId();
  return (
    <span className={classes.template}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </span>
  );
}
