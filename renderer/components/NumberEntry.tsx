/** A Mantine field for a number; NumberField without Mantine's label and description. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { type TypedNumberOptions, useTypedNumber } from './use-typed-number.ts';

type Shown = 'label' | 'description' | 'placeholder' | 'disabled' | 'error' | 'w' | 'mt' | 'className' | 'onBlur';

export interface NumberEntryProps
  extends Omit<TypedNumberOptions, 'step'>,
    Pick<TextInputProps, Shown | 'onKeyDown' | 'aria-label' | 'aria-labelledby' | 'aria-describedby'> {
  readonly step?: number;
}

export function NumberEntry(props: NumberEntryProps) {
  const { value, onChange, min, max, step = 1, error, onBlur, onKeyDown, ...rest } = props;
  const { fault, isOther, input } = useTypedNumber({ value, onChange, min, max, step });
  return (
    <TextInput
      {...rest}
      {...input}
      error={fault ?? error ?? isOther}
      onBlur={(event) => {
        input.onBlur();
        onBlur?.(event);
      }}
      onKeyDown={(event) => {
        input.onKeyDown(event);
        if (!event.defaultPrevented) onKeyDown?.(event);
      }}
    />
  );
}
