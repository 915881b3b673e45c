/** What the Samples screen shows, as encoded behind `#/samples?`. Pure. */
import type { SampleFilter, SampleOrder } from '../../main/api/contract/index.ts';

export type View = 'step' | 'record' | 'find' | 'pins';

export interface Place {
  readonly show: View;
  /** Null for the run with the newest completions. */
  readonly run: number | null;
  /** Null to follow the newest. */
  readonly step: number | null;
  /** A prompt's group in the step; null for the whole step. */
  readonly group: number | null;
  readonly record: string | null;
  readonly filter: Filter;
}

/** A filter without its run, which is that of the place, or any. */
export interface Filter extends Omit<SampleFilter, 'runId' | 'step' | 'group' | 'recordId'> {
  readonly everyRun: boolean;
  readonly order: SampleOrder;
}

export const noFilter: Filter = { everyRun: false, order: 'newest' };

const views: readonly View[] = ['step', 'record', 'find', 'pins'];
const orders: readonly SampleOrder[] = ['newest', 'lowest', 'highest'];

/** Parses a place; invalid parts are ignored. */
export function readPlace(search: string): Place {
  const asked = new URLSearchParams(search);
  const record = asked.get('record');
  const show = views.find((view) => view === asked.get('show')) ?? 'step';
  return {
    show: show === 'record' && record === null ? 'step' : show,
    run: whole(asked.get('run'), 1),
    step: whole(asked.get('step'), 0),
    group: whole(asked.get('group'), 0),
    record,
    filter: readFilter(asked),
  };
}

function readFilter(asked: URLSearchParams): Filter {
  const name = asked.get('part');
  return {
    everyRun: asked.get('runs') === 'all',
    order: orders.find((order) => order === asked.get('order')) ?? 'newest',
    ...given('words', asked.get('q') ?? undefined),
    ...given('inPrompts', asked.get('prompts') === 'too' || undefined),
    ...given('below', number(asked.get('below'))),
    ...given('above', number(asked.get('above'))),
    ...given('exact', flag(asked.get('exact'))),
    ...given('terminated', flag(asked.get('ended'))),
    ...(name !== null && {
      component: {
        name,
        ...given('below', number(asked.get('part-below'))),
        ...given('above', number(asked.get('part-above'))),
      },
    }),
  };
}

/** The hash of a place, without default values. */
export function writePlace({ show, run, step, group, record, filter }: Place): string {
  const { everyRun, order, words, inPrompts, below, above, exact, terminated, component } = filter;
  const entries: readonly (readonly [string, string | number | undefined | null])[] = [
    ['show', show === 'step' ? null : show],
    ['run', run],
    ['step', step],
    ['group', group],
    ['record', show === 'record' ? record : null],
    ['runs', everyRun ? 'all' : null],
    ['order', order === 'newest' ? null : order],
    ['q', words === '' ? null : words],
    ['prompts', inPrompts ? 'too' : null],
    ['below', below],
    ['above', above],
    ['exact', yesNo(exact)],
    ['ended', yesNo(terminated)],
    ['part', component?.name],
    ['part-below', component?.below],
    ['part-above', component?.above],
  ];
  const said = entries.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, `${value}`]]));
  return said.length === 0 ? '/samples' : `/samples?${new URLSearchParams(said)}`;
}

/** The filter as the host expects it. */
export function hostFilter({ everyRun, order: _, ...filter }: Filter, runId: number | null): SampleFilter {
  return { ...filter, ...(!everyRun && runId !== null && { runId }) };
}

/** An object with the key if the value is defined, otherwise empty. */
function given<K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [key in K]?: V };
}

function whole(text: string | null, least: number): number | null {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : null;
}

function number(text: string | null): number | undefined {
  return text === null || text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
}

function flag(text: string | null): boolean | undefined {
  return text === 'yes' ? true : text === 'no' ? false : undefined;
}

function yesNo(value: boolean | undefined): string | null {
  return value === undefined ? null : value ? 'yes' : 'no';
}
