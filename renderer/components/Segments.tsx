/**
 * A segmented control. Mantine's SegmentedControl measures the page to position its indicator whenever a screen opens.
 */
import { useId } from 'react';
import classes from './Segments.module.css';

export interface SegmentsProps<V extends string> {
  readonly 'aria-label'?: string;
  readonly 'aria-labelledby'?: string;
  readonly 'aria-describedby'?: string;
  /** Values, with a label if it differs from the value. */
  readonly data: readonly (V | { readonly value: V; readonly label: string })[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

/** Radio buttons styled as one control; arrow keys move between them. */
export function Segments<V extends string>({ data, value, onChange, ...named }: SegmentsProps<V>) {
  const name = useId();
  return (
    <div className={classes.segments} role="radiogroup" {...named}>
      {data.map((item) => {
        const { value: own, label } = typeof item === 'string' ? { value: item, label: item } : item;
        return (
          <label key={own} className={classes.segment}>
            <input type="radio" name={name} checked={own === value} onChange={() => onChange(own)} />
            <span>{label}</span>
          </label>
        );
      })}
    </div>
  );
}
