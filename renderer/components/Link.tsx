/** A link to another screen. wouter's Link subscribes to the location: in a table that is one listener per row. */
import { type ComponentProps, useContext } from 'react';
import { navigate, prefetchLocation } from '../frame/hash-location.ts';
import { IsReport } from './is-report.ts';

export interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  /** A path within the app: `/runs/7`. */
  readonly href: string;
}

export function Link({ href, onClick, onPointerDown, children, ...rest }: LinkProps) {
  // Its style sheet hides what only leads elsewhere.
  if (useContext(IsReport))
    return (
      <span className={rest.className} data-no-link>
        {children}
      </span>
    );
  return (
    <a
      {...rest}
      href={`#${href}`}
      onPointerDown={(event) => {
        onPointerDown?.(event);
        // A click takes about as long as the host takes to answer.
        prefetchLocation(href);
      }}
      onClick={(event) => {
        onClick?.(event);
        // Modifier keys ask the browser for a new tab or window.
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
