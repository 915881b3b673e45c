/** Tells of answers together that came together, so that the page is drawn once for all of them. Pure but for time. */

/** Gathers what is to be told until the page comes to it. */
export function together(later: (work: () => void) => void = setTimeout): (tell: () => void) => void {
  let waiting: (() => void)[] = [];
  const tellAll = (): void => {
    const due = waiting;
    waiting = [];
    for (const tell of due) tell();
  };
  return (tell) => {
    if (waiting.push(tell) === 1) later(tellAll);
  };
}
