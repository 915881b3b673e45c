/** Measures in a page: from the first input event of an action to the frame in which a condition becomes true. */
import type { Page } from 'playwright-core';

export interface Measured {
  /** Wall-clock time until it was shown. */
  readonly ms: number;
  /** Until the last chart was drawn; null: not requested. */
  readonly drawn: number | null;
  /** CPU time of the page's main thread. */
  readonly work: number;
}

export interface Probe {
  /** Performs it and waits until `shown` holds and was painted; with `drawn`, until the last chart was drawn. */
  measure(act: () => Promise<void>, shown: string, drawn: boolean): Promise<Measured>;
}

/** Charts are done when none was redrawn for this long. */
const QUIET_MS = 400;

/** Measures on this page, and on every document that it opens afterwards. */
export async function openProbe(page: Page): Promise<Probe> {
  await page.addInitScript(() => {
    const probe = {
      start: 0,
      drawn: 0,
      noted: '',
      again: () => {
        probe.start = 0;
      },
      found: () => document.querySelector('[aria-label="Completions found"]')?.textContent ?? '',
      note: () => {
        probe.noted = probe.found();
      },
      changed: () => probe.found() !== probe.noted && probe.found() !== '',
    };
    Object.assign(window, { __probe: probe });
    // A press acts on release; a key acts on keydown.
    for (const kind of ['keydown', 'mouseup', 'input', 'probe'])
      window.addEventListener(
        kind,
        ({ timeStamp }) => {
          if (probe.start === 0) probe.start = timeStamp;
        },
        true,
      );
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      probe.drawn = performance.now();
      return clearRect.apply(this, box);
    };
  });
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Performance.enable', { timeDomain: 'threadTicks' });
  const work = async (): Promise<number> => {
    const { metrics } = await protocol.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  return {
    measure: async (act, shown, drawn) => {
      await page.evaluate('window.__probe.again()');
      const before = await work();
      const painted = page.evaluate(paintedAt, { shown, quiet: drawn ? QUIET_MS : 0 });
      const [{ ms, last }] = await Promise.all([painted, act()]);
      return { ms, drawn: drawn ? last : null, work: (await work()) - before };
    },
  };
}

/** Runs in the page. */
function paintedAt({ shown, quiet }: { readonly shown: string; readonly quiet: number }): Promise<{
  readonly ms: number;
  readonly last: number;
}> {
  interface Marks {
    readonly start: number;
    readonly drawn: number;
  }
  const probe = (window as unknown as { __probe: Marks }).__probe;
  const holds = new Function(`return ${shown}`) as () => boolean;
  const given = performance.now() + 12_000;
  return new Promise((settle, fail) => {
    let end = 0;
    const look = (): void => {
      if (performance.now() > given) fail(new Error(`Expected ${shown}`));
      else requestAnimationFrame(check);
    };
    const check = (): void => {
      if (probe.start === 0 || !holds()) {
        end = 0;
        look();
        return;
      }
      // A message is delivered after this callback's frame was painted.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        if (end === 0) end = performance.now();
        const done = quiet === 0 ? end : Math.max(end, probe.drawn);
        if (quiet > 0 && performance.now() - done < quiet) look();
        else settle({ ms: end - probe.start, last: done - probe.start });
      };
      port2.postMessage(null);
    };
    look();
  });
}
