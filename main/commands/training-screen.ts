/** Terminal output of a command that trains several runs: one line per part, a bar per run, Ctrl-C saves. */
import type { LiveRun } from '../services/training/training.ts';
import type { TrainerEvent } from '../trainer/protocol/trainer-events.ts';
import type { CommandContext } from './shared.ts';
import { followTraining, stopOnSignals, type TrainingView } from './training-view.ts';

export interface TrainingScreen {
  /** Starts a part. */
  part(words: string): void;
  readonly onEvents: (events: readonly TrainerEvent[]) => void;
  readonly onRun: (run: LiveRun) => void;
  end(): void;
}

/** Opens the screen. */
export function openTrainingScreen(context: CommandContext): TrainingScreen {
  let view: TrainingView | null = null;
  let release: (() => void) | null = null;
  const end = (): void => {
    view?.end();
    release?.();
    [view, release] = [null, null];
  };
  return {
    part: (words) => {
      end();
      context.say(words);
    },
    onEvents: (events) => view?.onEvents(events),
    onRun: (run) => {
      view = followTraining(context);
      release = stopOnSignals(run, context).release;
    },
    end,
  };
}
