/** The tour: a card beside each place that it explains. Escape ends it, arrow keys and buttons move on. */
import { Button, CloseButton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { client } from '../api/client.ts';
import classes from './Tour.module.css';
import { type Box, placeBeside } from './tour-place.ts';
import { type TourStep, tourSteps } from './tour-steps.ts';
import { tour } from './tour-store.ts';

export function Tour() {
  return useSyncExternalStore(tour.subscribe, tour.get) ? <Stops /> : null;
}

function Stops() {
  const [at, setAt] = useState(0);
  const [place, setPlace] = useState<{ readonly ring: Box; readonly left: number; readonly top: number } | null>(null);
  const card = useRef<HTMLDivElement>(null);
  const next = useRef<HTMLButtonElement>(null);
  // A tour that was left early was seen, too: nobody is asked twice.
  const { mutate: remember } = useMutation({ mutationFn: () => client.settings.set({ offer_tour: false }) });
  const step = tourSteps[at];
  const last = at === tourSteps.length - 1;

  useEffect(() => {
    const before = document.activeElement;
    remember();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, [remember]);
  useLayoutEffect(() => {
    const put = (): void => {
      const target = step === undefined ? null : targetOf(step);
      const { current } = card;
      if (target === null || current === null) {
        setPlace(null);
        return;
      }
      target.scrollIntoView({ block: 'nearest' });
      const ring = target.getBoundingClientRect();
      const size = { width: current.offsetWidth, height: current.offsetHeight };
      const view = { width: window.innerWidth, height: window.innerHeight };
      setPlace({ ring, ...placeBeside(ring, size, view) });
    };
    put();
    next.current?.focus();
    window.addEventListener('resize', put);
    return () => window.removeEventListener('resize', put);
  }, [step]);
  if (step === undefined) return null;

  const move = (by: number): void => {
    if (at + by >= tourSteps.length) tour.end();
    else setAt(Math.max(0, at + by));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (event.key === 'Escape') tour.end();
    else if (by !== 0 && !(last && by > 0)) move(by);
    else return;
    event.stopPropagation();
    event.preventDefault();
  };
  return (
    <>
      {place !== null && (
        <div
          className={classes.ring}
          style={{ left: place.ring.left, top: place.ring.top, width: place.ring.width, height: place.ring.height }}
        />
      )}
      <div
        ref={card}
        className={classes.card}
        role="dialog"
        aria-labelledby="tour-title"
        aria-describedby="tour-text"
        // Not hidden until it has its place: what is hidden can't take the focus.
        style={place === null ? { left: -1000, top: 0 } : { left: place.left, top: place.top }}
        onKeyDown={onKeyDown}
      >
        <div className={classes.head}>
          <h2 id="tour-title">{step.title}</h2>
          <CloseButton size="sm" aria-label="End the tour" onClick={() => tour.end()} />
        </div>
        <p id="tour-text">{step.text}</p>
        <div className={classes.foot}>
          <span className="soft num">
            {at + 1} of {tourSteps.length}
          </span>
          {at > 0 && (
            <Button variant="default" onClick={() => move(-1)}>
              Back
            </Button>
          )}
          <Button ref={next} onClick={() => move(1)}>
            {last ? 'Done' : 'Next'}
          </Button>
        </div>
      </div>
    </>
  );
}

function targetOf({ target }: TourStep): Element | null {
  return document.querySelector(target.kind === 'status' ? '[data-tour="status"]' : `nav a[href$="#${target.path}"]`);
}
