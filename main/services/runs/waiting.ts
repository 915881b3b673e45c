/** What will start outside the curriculum: queued runs, and the sweeps that have runs left, with their settings. */
import type { Store } from '../../store/index.ts';
import type { SweepState } from '../../store/sweeps.ts';

export interface Waiting {
  readonly kind: 'run' | 'sweep';
  readonly name: string;
  /** Of each of its runs, with absolute paths. */
  readonly configs: readonly Readonly<Record<string, unknown>>[];
}

/** Trials that start, or continue, by themselves. */
const LEFT: readonly string[] = ['waiting', 'running', 'reached'];

/** States of sweeps that start runs by themselves, and of those that do so once they are resumed. */
const ACTIVE: readonly SweepState[] = ['queued', 'running'];
export const RESUMABLE: readonly SweepState[] = [...ACTIVE, 'paused'];

/** Of what waits, all that has a run whose settings need something. */
export function waitingFor(
  store: Pick<Store, 'queue' | 'sweeps'>,
  needs: (config: Waiting['configs'][number]) => boolean,
  sweepStates = ACTIVE,
): readonly Pick<Waiting, 'kind' | 'name'>[] {
  return waitingToStart(store, sweepStates)
    .filter(({ configs }) => configs.some(needs))
    .map(({ kind, name }) => ({ kind, name }));
}

/** Queued runs in their order, then sweeps of these states. */
function waitingToStart(
  { queue, sweeps }: Pick<Store, 'queue' | 'sweeps'>,
  sweepStates: readonly SweepState[],
): readonly Waiting[] {
  const runs = queue.list().flatMap(({ kind, id, name }): Waiting[] => {
    const queued = kind === 'run' ? queue.getRun(id) : undefined;
    return queued === undefined
      ? []
      : [{ kind: 'run', name: name ?? `without a name (${id})`, configs: [queued.config] }];
  });
  const planned = sweeps
    .list()
    .filter(({ state }) => sweepStates.includes(state))
    .map(({ id, name }): Waiting => {
      const left = sweeps.trials(id).filter(({ state }) => LEFT.includes(state));
      return { kind: 'sweep', name, configs: left.map(({ config }) => config) };
    });
  return [...runs, ...planned];
}

/** "the queued run "gsm"", or "the sweep "rates"". */
export function waitingInWords({ kind, name }: Pick<Waiting, 'kind' | 'name'>): string {
  return `the ${kind === 'run' ? 'queued run' : 'sweep'} "${name}"`;
}
