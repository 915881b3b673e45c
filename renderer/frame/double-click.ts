/**
 * The second click of a double click on a button lands on what the first one has put there: it must not select its
 * words.
 */
export function keepDoubleClicksOnButtons(page: Pick<Document, 'addEventListener'>): void {
  let pressed: Element | null = null;
  page.addEventListener(
    'mousedown',
    (event) => {
      const target = event.target instanceof Element ? event.target : null;
      if (event.detail <= 1) pressed = target?.closest('button, a') ?? null;
      else if (pressed !== null && !pressed.contains(target)) event.preventDefault();
    },
    true,
  );
}
