/** Completions pinned for comparison across steps and runs; kept while the window is open. */
import { useSyncExternalStore } from 'react';
import type { SampleKey } from '../../main/api/contract/index.ts';
import { isolated } from '../components/isolated.ts';
import { observable } from '../components/observable.ts';

/** As many as fit side by side. */
export const MAX_PINS = 4;

const STORED = 'braid.pins';
const pins = observable(readPins(globalThis.sessionStorage?.getItem(STORED) ?? null));

/** A key as text. */
export function keyText({ runId, step, group, index }: SampleKey): string {
  return `${runId}.${step}.${group}.${index}`;
}

/** A pinned completion in words, no two alike; `sample` once it is known. */
export function pinName(
  { runId, step, group, index }: SampleKey,
  sample: { readonly runName: string; readonly recordId: string } | undefined,
): string {
  const of =
    sample === undefined
      ? `run ${runId} · step ${step}`
      : `${isolated(sample.runName)} · step ${step} · ${isolated(sample.recordId)}`;
  return `${of} · group ${group + 1}, completion ${index + 1}`;
}

/** Parses stored pins; invalid ones are ignored. */
export function readPins(stored: string | null): readonly SampleKey[] {
  const keys = (stored ?? '').split(' ').flatMap((text) => {
    if (!/^\d+(\.\d+){3}$/.test(text)) return [];
    const [runId = 0, step = 0, group = 0, index = 0] = text.split('.').map(Number);
    return [{ runId, step, group, index }];
  });
  return keys.slice(0, MAX_PINS);
}

/** Adds the key if it isn't pinned and there is room; removes it if it is pinned. */
export function togglePin(before: readonly SampleKey[], key: SampleKey): readonly SampleKey[] {
  const rest = before.filter((pin) => keyText(pin) !== keyText(key));
  if (rest.length < before.length) return rest;
  return before.length < MAX_PINS ? [...before, key] : before;
}

function change(next: readonly SampleKey[]): void {
  sessionStorage.setItem(STORED, next.map(keyText).join(' '));
  pins.set(next);
}

export interface Pins {
  readonly pins: readonly SampleKey[];
  readonly full: boolean;
  has(key: SampleKey): boolean;
  toggle(key: SampleKey): void;
  clear(): void;
}

export function usePins(): Pins {
  const now = useSyncExternalStore(pins.subscribe, pins.get);
  return {
    pins: now,
    full: now.length >= MAX_PINS,
    has: (key) => now.some((pin) => keyText(pin) === keyText(key)),
    toggle: (key) => change(togglePin(now, key)),
    clear: () => change([]),
  };
}
