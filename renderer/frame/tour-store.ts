/** Whether the tour is on; it is started from Home, the palette and the desktop's Help menu. */

let isOn = false;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  isOn = next;
  for (const listener of listeners) listener();
}

export const tour = {
  get: (): boolean => isOn,
  start: (): void => set(true),
  end: (): void => set(false),
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
