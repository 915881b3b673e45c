/** A native range input. It looks like Mantine's Slider, which consists of ten elements. */
import type { CSSProperties } from 'react';
import classes from './Slider.module.css';

export interface SliderProps {
  readonly 'aria-labelledby': string;
  /** The range starts at 0. */
  readonly max: number;
  readonly step: number;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

export function Slider({ max, value, onChange, ...rest }: SliderProps) {
  return (
    <input
      {...rest}
      {...{ max, value }}
      type="range"
      min={0}
      className={`mantine-focus-auto ${classes.slider}`}
      style={{ '--share': value / max } as CSSProperties}
      onChange={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
    />
  );
}
