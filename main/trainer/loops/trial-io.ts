/** The output side of steps that are only tried or timed: of what a run reports and saves, nothing is kept. */
import { startOfPrompts } from '../batching/prompt-stream.ts';
import type { Phases } from '../monitor/phases.ts';
import { openControl } from './control.ts';
import type { RunIo } from './run-io.ts';

/** Starts at the first step; whoever tries the steps says with `own` what it wants to know of them. */
export function openTrialIo(phases: Phases, own: Partial<RunIo> & Pick<RunIo, 'endStep'>): RunIo {
  return {
    firstStep: 0,
    control: openControl(() => undefined),
    phases,
    emit: () => undefined,
    addTokens: () => undefined,
    addGroups: () => undefined,
    keepsSamples: () => false,
    prompts: startOfPrompts,
    entropy: null,
    holdEntropy: () => undefined,
    holdGeneration: () => undefined,
    restoreGeneration: async () => null,
    begin: async () => undefined,
    finish: async () => undefined,
    ...own,
  };
}
