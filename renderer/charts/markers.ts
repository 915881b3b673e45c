/** Event markers, those that would overlap as one. Pure. */
import { largest, smallest } from '../components/extremes.ts';
import { counted } from '../components/format.ts';

/** Something that happened at a step. */
export interface EventMarker {
  readonly at: number;
  readonly label: string;
  readonly kind: 'checkpoint' | 'warning' | 'pause' | 'resume' | 'phase' | 'error' | 'info';
}

/** Where a step is, in pixels. */
export type PlaceOf = (at: number) => number;

/** Markers that share a place in a chart. */
export interface MarkerSlot {
  /** The step at which it is drawn: that of its weightiest marker. */
  readonly at: number;
  /** By kind, the weightiest first; of each in order of steps. */
  readonly kinds: readonly (readonly [EventMarker, ...EventMarker[]])[];
  readonly from: number;
  readonly to: number;
}

/** A sign is 9 pixels wide: closer ones make a band. */
const SLOT_PX = 20;
/** So near a slot the hover line points at it. */
const NEAR_PX = 4;

const BY_WEIGHT: readonly EventMarker['kind'][] = [
  'error',
  'phase',
  'warning',
  'pause',
  'resume',
  'checkpoint',
  'info',
];

/** The markers in slots, from left to right: the weightiest have theirs, and each of the others joins the nearest. */
export function slotsOf(markers: readonly EventMarker[], placeOf: PlaceOf): readonly MarkerSlot[] {
  const weight = ({ kind }: EventMarker): number => BY_WEIGHT.indexOf(kind);
  const ordered = markers.toSorted((a, b) => weight(a) - weight(b) || a.at - b.at);
  const groups: { readonly at: number; readonly place: number; readonly members: EventMarker[] }[] = [];
  for (const { at } of ordered) {
    const place = placeOf(at);
    if (groups.every((group) => Math.abs(group.place - place) > SLOT_PX)) groups.push({ at, place, members: [] });
  }
  groups.sort((a, b) => a.place - b.place);
  for (const marker of ordered) {
    const own = placeOf(marker.at);
    const away = groups.map(({ place }) => Math.abs(place - own));
    groups[away.indexOf(smallest(away))]?.members.push(marker);
  }
  return groups.map(({ at, members }) => slotOf(at, members));
}

function slotOf(at: number, members: readonly EventMarker[]): MarkerSlot {
  const kinds = BY_WEIGHT.flatMap((kind) => {
    const [first, ...others] = members.filter((marker) => marker.kind === kind);
    return first === undefined ? [] : [[first, ...others] as const];
  });
  const steps = members.map((marker) => marker.at);
  return { at, kinds, from: smallest(steps, at), to: largest(steps, at) };
}

/** What the slot at a step holds, in words; null: there is none. */
export function eventsAt(markers: readonly EventMarker[], at: number, placeOf: PlaceOf): string | null {
  const place = placeOf(at);
  const away = ({ from, to }: MarkerSlot): number => Math.max(placeOf(from) - place, place - placeOf(to), 0);
  const [slot] = slotsOf(markers, placeOf)
    .filter((one) => away(one) <= NEAR_PX)
    .sort((a, b) => Math.abs(placeOf(a.at) - place) - Math.abs(placeOf(b.at) - place));
  return slot === undefined ? null : slot.kinds.map(inWords).join(' · ');
}

function inWords([first, ...others]: MarkerSlot['kinds'][number]): string {
  const last = others.at(-1);
  if (last === undefined) return first.label;
  return `${counted(others.length + 1, first.kind === 'info' ? 'note' : first.kind)} (steps ${first.at} to ${last.at})`;
}
