/** What a live run does now, and what it has been asked to do, in words. Pure. */
import type { LiveStatus } from '../../main/api/contract/index.ts';

type Asked = Pick<LiveStatus, 'state' | 'asked' | 'step' | 'maxSteps'>;

/** The state to show: a request counts from the moment that it is made. */
export function shownState({ state, asked }: Pick<LiveStatus, 'state' | 'asked'>): string {
  if (state === 'running' && asked === 'pause') return 'pausing';
  return state === 'paused' && asked === 'resume' ? 'resuming' : state;
}

/** What is waited for; null: nothing. A trainer answers between two steps only. */
export function waitsFor(live: Asked, ended = 'saved'): string | null {
  const { step, maxSteps } = live;
  // Before the first step it may be evaluating the baseline.
  const next = step === 0 ? 'once this is done' : `after step ${Math.min(step + 1, maxSteps)}`;
  switch (shownState(live)) {
    case 'starting':
      return step === 0 ? 'starting, loading the model …' : `resuming from step ${step}, loading the model …`;
    case 'pausing':
      return `pausing ${next} …`;
    case 'resuming':
      return `resuming after step ${step} …`;
    case 'stopping':
      return live.asked === 'save' ? 'saving …' : `stopping ${next}, then saving …`;
    case 'ending':
      return `${ended}, its process is exiting …`;
    default:
      return null;
  }
}
