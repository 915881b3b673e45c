/** A way to another screen. wouter's own listens to the address: in a table that is one listener a row. */
import type { ComponentProps } from 'react';
import { navigate, openAhead } from '../frame/hash-location.ts';

export interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  /** A path of the page: `/runs/7`. */
  readonly href: string;
}

export function Link({ href, onClick, onPointerDown, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={`#${href}`}
      onPointerDown={(event) => {
        onPointerDown?.(event);
        // A press lasts as long as the host takes to answer.
        openAhead(href);
      }}
      onClick={(event) => {
        onClick?.(event);
        // A key held with the press asks the browser for another tab or window.
        const { defaultPrevented, button, ctrlKey, metaKey, altKey, shiftKey } = event;
        if (defaultPrevented || button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      {children}
    </a>
  );
}
