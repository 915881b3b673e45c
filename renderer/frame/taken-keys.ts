/** Which keys the focused element handles itself, so that they aren't shortcuts there. */

/** Inputs that accept no text: letters typed there still go to the screen. */
const TEXTLESS = ['checkbox', 'radio', 'range', 'button', 'submit', 'reset', 'file', 'color'];

/** Areas that only take the focus so that keys can scroll them. */
const SCROLLING = ':is(section, ol, pre, div)[tabindex="0"]:not([role])';

const SIDEWAYS: readonly string[] = ['ArrowLeft', 'ArrowRight'];
const UP_AND_DOWN: readonly string[] = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', ' '];

type Scrolled = Pick<Element, 'scrollWidth' | 'clientWidth' | 'scrollHeight' | 'clientHeight'>;

/** Whether a key scrolls an area. Also at its end: a held key must not suddenly change the step. Pure. */
export function scrollsBy(key: string, { scrollWidth, clientWidth, scrollHeight, clientHeight }: Scrolled): boolean {
  if (SIDEWAYS.includes(key)) return scrollWidth > clientWidth;
  return UP_AND_DOWN.includes(key) && scrollHeight > clientHeight;
}

/**
 * Whether the focused element handles a key itself: text fields take letters, dialogs everything, other fields only
 * special keys.
 */
export function isTaken(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role="dialog"], [role="listbox"], [role="menu"]') !== null) return true;
  if (target.matches(SCROLLING) && scrollsBy(key, target)) return true;
  const field = target.closest('input, textarea, select');
  if (field === null) return target.isContentEditable;
  const takesText =
    field instanceof HTMLInputElement
      ? !field.readOnly && !TEXTLESS.includes(field.type)
      : field instanceof HTMLTextAreaElement;
  // Arrows move a slider or a select; Space toggles a checkbox.
  return takesText || key.length > 1 || key === ' ' || target.getAttribute('aria-expanded') === 'true';
}
