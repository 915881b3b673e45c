import type { ComponentProps } from 'react';

export interface SubmitFormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSubmit: () => void;
}

/** A form that the page sends itself: the browser must not load an address for it. */
export function SubmitForm({ onSubmit, ...rest }: SubmitFormProps) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}
