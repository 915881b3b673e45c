/** One of a few, side by side. Mantine's own measures the page to slide its mark, at each screen that is opened. */
import { useId } from 'react';
import classes from './Segments.module.css';

export interface SegmentsProps<V extends string> {
  readonly 'aria-label'?: string;
  readonly 'aria-labelledby'?: string;
  readonly 'aria-describedby'?: string;
  /** Values, with a label where it is not the value itself. */
  readonly data: readonly (V | { readonly value: V; readonly label: string })[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

/** Radio buttons that look like one control: arrow keys go from one to the next. */
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
