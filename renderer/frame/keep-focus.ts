/**
 * Keeps the place of people who work by keyboard or screen reader. A control that disappears or is disabled while it
 * has the focus would leave the focus nowhere, and a screen reader would start at the top of the page again. The focus
 * returns to the control when it is enabled again; if it is gone, the part of the screen around it takes the focus, and
 * after a dialog the control that opened it.
 */

const DIALOG = '[role="dialog"]';
/** What may take the focus for a control that was in it, from the inside out. */
const PLACES = `section, ${DIALOG}, main`;

/** Long enough for a dialog or another screen to take the focus itself. */
const SETTLE_MS = 120;

/** Watches the page until the returned function is called. */
export function keepFocus(page: Document): () => void {
  let last: HTMLElement | null = null;
  let places: readonly Element[] = [];
  /** What a dialog that opens next goes back to: the last control, or for an item of a menu, which closes, its button. */
  let opener: HTMLElement | null = null;
  /** The control that had the focus before a dialog took it. */
  const openers = new WeakMap<Element, HTMLElement>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const isLost = (): boolean => page.activeElement === null || page.activeElement === page.body;

  const follow = ({ target, type }: FocusEvent | KeyboardEvent): void => {
    if (!(target instanceof HTMLElement) || target === page.body) return;
    // Who clicks doesn't look for the focus, and a letter typed after a click belongs to the screen.
    const byKeyboard = type === 'keydown' || target.matches(':focus-visible');
    const dialog = target.closest(DIALOG);
    if (dialog !== null && opener !== null && !openers.has(dialog) && !dialog.contains(opener))
      openers.set(dialog, opener);
    last = byKeyboard ? target : null;
    opener = byKeyboard ? (menuButton(target) ?? target) : null;
    if (byKeyboard) places = placesAround(target, openers);
  };
  const forget = (): void => {
    last = null;
    opener = null;
  };
  const restore = (): void => {
    if (last === null || !isLost()) return;
    if (last.isConnected) {
      if (!last.matches(':disabled')) last.focus({ preventScroll: true });
      return;
    }
    last = null;
    const place = places.find((one) => one.isConnected && !one.matches(':disabled')) ?? page.querySelector('main');
    if (!(place instanceof HTMLElement)) return;
    if (place.matches(PLACES) && !place.hasAttribute('tabindex')) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  };
  // A control that is there and enabled was left on purpose, by a click elsewhere or by code.
  const leave = ({ target }: FocusEvent): void => {
    if (target instanceof HTMLElement && target.isConnected && !target.matches(':disabled'))
      setTimeout(() => {
        if (last === target && isLost() && target.isConnected && !target.matches(':disabled')) last = null;
      });
  };
  const observer = new MutationObserver(() => {
    if (last === null || (last.isConnected && page.activeElement === last && !last.matches(':disabled'))) return;
    clearTimeout(timer);
    timer = setTimeout(restore, SETTLE_MS);
  });
  observer.observe(page.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  page.addEventListener('focusin', follow);
  page.addEventListener('keydown', follow, true);
  page.addEventListener('focusout', leave);
  page.addEventListener('pointerdown', forget, true);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    page.removeEventListener('focusin', follow);
    page.removeEventListener('keydown', follow, true);
    page.removeEventListener('focusout', leave);
    page.removeEventListener('pointerdown', forget, true);
  };
}

/** The button of the menu that an item is in. */
function menuButton(item: Element): HTMLElement | null {
  const id = item.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return id == null ? null : document.getElementById(id);
}

function placesAround(element: Element, openers: WeakMap<Element, HTMLElement>): readonly Element[] {
  const places: Element[] = [];
  for (let at = element.parentElement?.closest(PLACES); at != null; at = at.parentElement?.closest(PLACES)) {
    places.push(at);
    const opener = openers.get(at);
    if (opener !== undefined) places.push(opener, ...placesAround(opener, openers));
  }
  return places;
}
