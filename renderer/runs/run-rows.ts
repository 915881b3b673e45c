/** The rows of the run list, filtered by search and state. Pure. */
import type { LiveStatus, RunSummary } from '../../main/api/contract/index.ts';
import { folded } from '../components/folded.ts';
import { money } from '../components/format.ts';
import { shownState } from '../run/live-words.ts';

export interface RunRowView {
  readonly id: number;
  readonly name: string;
  /** The name it was started with. */
  readonly role: string;
  /** The name of its stage; null for a free run. */
  readonly stage: string | null;
  /** The live state, or the stored one. */
  readonly state: string;
  readonly reason: string | null;
  readonly dataset: string;
  readonly model: string;
  readonly method: string;
  readonly step: number;
  readonly maxSteps: number;
  readonly reward: number | null;
  readonly heldOut: number | null;
  readonly baseline: number | null;
  /** How far it is below the baseline. */
  readonly below: RunSummary['below'];
  /** Held-out score minus the baseline; null if either is missing. */
  readonly gain: number | null;
  readonly secondsLeft: number | null;
  readonly parentRunId: number | null;
  readonly tags: readonly string[];
  /** Seconds that an ended run has trained. */
  readonly seconds: number | null;
  /** At the hourly price of the settings; null without one, or where an engine or a judge had its own price. */
  readonly cost: string | null;
  readonly createdAt: number;
}

/** What the rows need besides the runs. */
export interface Around {
  readonly stages: readonly { readonly id: number; readonly name: string }[];
  readonly price: { readonly hourly_price: number; readonly currency: string } | null;
}

const alone: Around = { stages: [], price: null };

/** Stored runs as rows, with the live status of those in training. */
export function toRows(
  runs: readonly RunSummary[],
  live: readonly LiveStatus[],
  { stages, price }: Around = alone,
): readonly RunRowView[] {
  const stageNames = new Map(stages.map(({ id, name }) => [id, name]));
  const training = new Map(live.map((status) => [status.runId, status]));
  return runs.map((run) => {
    const now = training.get(run.id);
    const heldOut = run.evaluation?.mean ?? null;
    const baseline = run.baselineScore;
    const seconds = run.endedAt === null ? null : run.trainedSeconds;
    // What an engine and judges cost is summed up on the run's page.
    const hasOwnPrice = run.latest['engine/cost'] !== undefined || run.latest.reward_cost !== undefined;
    return {
      id: run.id,
      name: run.name,
      reason: run.reason,
      model: run.model,
      method: run.method,
      parentRunId: run.parentRunId,
      createdAt: run.createdAt,
      tags: run.tags,
      baseline,
      heldOut,
      below: run.below,
      role: run.role,
      stage: stageNames.get(run.stageId ?? 0) ?? null,
      seconds,
      cost: hasOwnPrice || seconds === null ? null : costText(seconds, price),
      state: now === undefined ? run.state : shownState(now),
      dataset:
        run.dataset
          .split(/[\\/]/)
          .at(-1)
          ?.replace(/\.jsonl$/, '') ?? run.dataset,
      step: now?.step ?? run.step,
      maxSteps: now?.maxSteps ?? run.maxSteps,
      reward: now?.reward ?? run.latest.reward?.value ?? null,
      gain: heldOut === null || baseline === null ? null : heldOut - baseline,
      secondsLeft: now?.secondsLeft ?? null,
    };
  });
}

function costText(seconds: number, price: Around['price']): string | null {
  if (price === null || price.hourly_price <= 0) return null;
  return money((seconds / 3600) * price.hourly_price, price.currency);
}

/** The state filters; `live` covers all states of a run that has a trainer. */
export const stateFilters = ['all', 'live', 'done', 'interrupted', 'stopped', 'failed'] as const;
export type StateFilter = (typeof stateFilters)[number];

const live: ReadonlySet<string> = new Set([
  'starting',
  'running',
  'pausing',
  'paused',
  'resuming',
  'stopping',
  'ending',
]);

/** Whether a run has a trainer. */
export function isLive({ state }: Pick<RunRowView, 'state'>): boolean {
  return live.has(state);
}

/** Rows in a state whose name, dataset, model, id or tags contain all the words. */
export function filterRows(rows: readonly RunRowView[], words: string, state: StateFilter): readonly RunRowView[] {
  const wanted = folded(words).split(/\s+/).filter(Boolean);
  if (wanted.length === 0 && state === 'all') return rows;
  return rows.filter((row) => {
    const tags = row.tags.map((tag) => `tag:${tag}`).join(' ');
    const text = folded(`${row.name} ${row.dataset} ${row.model} ${row.method} #${row.id} ${tags}`);
    return inState(row, state) && wanted.every((word) => text.includes(word));
  });
}

/** The rows that were selected, in the order in which they were; without those deleted since, here or elsewhere. */
export function chosenRows(rows: readonly RunRowView[], ids: readonly number[]): readonly RunRowView[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function inState(row: RunRowView, filter: StateFilter): boolean {
  if (filter === 'all') return true;
  if (filter === 'live') return live.has(row.state);
  return row.state === filter || (filter === 'failed' && row.state === 'collapsed');
}
