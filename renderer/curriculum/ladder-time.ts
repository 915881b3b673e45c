/** The time left for the whole ladder, as a sentence that says how it is known. Pure. */
import type { LiveStatus, StageView } from '../../main/api/contract/index.ts';
import { duration } from '../components/format.ts';

export interface LadderTime {
  /** "About 2 h 05 min left", "1 h 10 min to 5 h left"; null: nothing is known. */
  readonly time: string | null;
  /** What it is based on, and what is missing. */
  readonly basis: string;
}

type Timed = Pick<StageView, 'id' | 'name' | 'state' | 'timeLeft'>;

const ENDED: ReadonlySet<StageView['state']> = new Set(['done', 'unmet']);

/** null: no stage has steps left. A stage that trains has its own estimate, which is newer. */
export function ladderTime(
  stages: readonly Timed[],
  live: readonly Pick<LiveStatus, 'stageId' | 'secondsLeft'>[],
): LadderTime | null {
  const open = stages.filter(({ state }) => !ENDED.has(state));
  if (open.length === 0) return null;
  const times = open.map((stage) => {
    const seconds = live.find(({ stageId }) => stageId === stage.id)?.secondsLeft ?? null;
    return {
      stage,
      left: seconds === null ? stage.timeLeft : ({ low: seconds, high: seconds, basis: 'measured' } as const),
    };
  });
  const known = times.flatMap(({ left }) => (left === null ? [] : [left]));
  const unknown = times.filter(({ left }) => left === null).map(({ stage }) => stage.name);
  if (known.length === 0)
    return { time: null, basis: 'Not known before a stage has run, or its pre-flight check has measured a step.' };
  const sum = (end: 'low' | 'high'): number => known.reduce((total, left) => total + left[end], 0);
  const [low, high] = [sum('low'), sum('high')];
  const wide = high > low * TOO_FAR ? ' Too uncertain to plan with before a longer stage has run or been checked.' : '';
  return { time: timeText(low, high, unknown.length > 0), basis: `${basisText(known, unknown)}${wide}` };
}

/** Ends that are this close are one time; ends this far apart are nothing to plan with. */
const CLOSE = 1.15;
const TOO_FAR = 3;

function timeText(low: number, high: number, isPart: boolean): string {
  if (high <= low * CLOSE) return `${isPart ? 'At least' : 'About'} ${duration((low + high) / 2)} left`;
  if (high > low * TOO_FAR) return `At least ${duration(low)} left, still measuring`;
  return isPart ? `At least ${duration(low)} left` : `${duration(low)} to ${duration(high)} left`;
}

function basisText(known: readonly { readonly basis: string }[], unknown: readonly string[]): string {
  const scaled = known.filter(({ basis }) => basis === 'scaled').length;
  const parts = [
    scaled === 0
      ? 'Estimated from measured steps.'
      : `${scaled === 1 ? 'One stage is' : `${scaled} stages are`} estimated from the step times of other lengths.`,
    ...(unknown.length > 0
      ? [`Not known for ${unknown.join(', ')}: a pre-flight check measures ${unknown.length === 1 ? 'it' : 'them'}.`]
      : []),
  ];
  return parts.join(' ');
}
