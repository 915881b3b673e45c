import { describe, expect, it } from 'vitest';
import { type EventMarker, eventsAt, slotsOf } from '../../../renderer/charts/markers.ts';

const marker = (at: number, kind: EventMarker['kind'] = 'checkpoint', label: string = kind): EventMarker => ({
  at,
  kind,
  label,
});
/** A chart of 600 pixels for 3,000 steps. */
const placeOf = (at: number): number => at / 5;

describe('slotsOf', () => {
  it('takes markers together that would overlap, each slot at its weightiest', () => {
    const saved = Array.from({ length: 300 }, (_, i) => marker(3000 - 10 * i));
    const slots = slotsOf([...saved, marker(1234, 'error'), marker(1236, 'pause')], placeOf);
    const places = slots.map(({ at }) => placeOf(at));
    expect(slots).toHaveLength(28);
    expect(places.every((place, i) => i === 0 || place - (places[i - 1] ?? 0) > 20)).toBe(true);
    const failed = slots.find(({ at }) => at === 1234);
    expect(failed?.kinds.map(([{ kind }]) => kind)).toEqual(['error', 'pause', 'checkpoint']);
    expect(slots.flatMap(({ kinds }) => kinds.flat())).toHaveLength(302);
  });

  it('leaves markers apart where there is room', () => {
    expect(slotsOf([marker(300), marker(100), marker(205)], placeOf).map(({ at }) => at)).toEqual([100, 205]);
    expect(slotsOf([marker(300), marker(100), marker(205)], (at) => at).map(({ at }) => at)).toEqual([100, 205, 300]);
  });
});

describe('eventsAt', () => {
  it('counts what the slot at a step holds', () => {
    const markers = [marker(10), marker(20), marker(60, 'warning', 'warning: Entropy falls'), marker(900, 'resume')];
    expect(eventsAt(markers, 35, placeOf)).toBe('warning: Entropy falls · 2 checkpoints (steps 10 to 20)');
    expect(eventsAt(markers, 885, placeOf)).toBe('resume');
    expect(eventsAt(markers, 500, placeOf)).toBeNull();
    const dense = Array.from({ length: 300 }, (_, i) => marker(10 * i));
    expect(eventsAt([...dense, ...dense.map(({ at }) => marker(at, 'warning'))], 1448, placeOf)).toBe(
      '11 warnings (steps 1380 to 1480) · 11 checkpoints (steps 1380 to 1480)',
    );
  });
});
