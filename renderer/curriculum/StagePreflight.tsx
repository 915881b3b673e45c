/** A stage's pre-flight check, with buttons to start, queue or adjust it. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { StageView } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { isolated } from '../components/isolated.ts';
import classes from '../components/preflight/Preflight.module.css';
import { isCrowded, isForNow, needsConsent, Preflight } from '../components/preflight/Preflight.tsx';
import { currentPath, navigateFrom } from '../frame/hash-location.ts';

export interface StagePreflightProps {
  readonly stage: StageView;
  /** Whether the check that was open before a reload will do. */
  readonly kept: boolean;
  readonly onAdjust: () => void;
  readonly onClose: () => void;
  /** The stage was counted as met; `next`: the stage after it; null: there is none. */
  readonly onMet: (next: number | null) => void;
}

export function StagePreflight({ stage, kept, onAdjust, onClose, onMet }: StagePreflightProps) {
  const { id: stageId, name, config } = stage;
  const start = useMutation({
    mutationFn: (allowUnwritable: boolean) => client.stages.start({ stageId, allowUnwritable }),
    onMutate: currentPath,
    onSuccess: ({ runId }, _, from) => navigateFrom(from, `/runs/${runId}`),
  });
  const enqueue = useMutation({
    mutationFn: (allowUnwritable: boolean) => client.stages.enqueue({ stageId, allowUnwritable }),
    onSuccess: onClose,
  });
  const count = useMutation({
    mutationFn: (score: number) => client.stages.countAsMet({ stageId, score }),
    onSuccess: ({ next }) => onMet(next),
  });
  // The stage is then another one, and checked as such.
  const warmUp = useMutation({
    mutationFn: (steps: number) => client.stages.change({ stageId, config: { ...config, warm_up_steps: steps } }),
  });
  const error = start.error ?? enqueue.error ?? count.error ?? warmUp.error;
  return (
    <Preflight
      key={String(config.warm_up_steps)}
      title={`${isolated(name)}: pre-flight check`}
      run={(signal, again) => client.stages.preflight({ stageId, kept: kept && !again }, { signal })}
      onClose={onClose}
      onWarmUp={warmUp.mutate}
    >
      {(blocked, report) => (
        <>
          {error !== null && <Failed what="The stage was not started" error={error} />}
          <div className={classes.actions}>
            <CountAsMet score={report.met} isPending={count.isPending} onClick={count.mutate} />
            <Button
              variant={isForNow(report) && report.met === null ? 'filled' : 'default'}
              onClick={() => start.mutate(needsConsent(report))}
              disabled={blocked}
              loading={start.isPending}
            >
              Start
            </Button>
            <Button
              variant={isCrowded(report) && report.met === null ? 'filled' : 'default'}
              onClick={() => enqueue.mutate(needsConsent(report))}
              disabled={blocked}
              loading={enqueue.isPending}
            >
              Add to queue
            </Button>
            <Button variant="default" onClick={onAdjust}>
              Adjust
            </Button>
          </div>
        </>
      )}
    </Preflight>
  );
}

interface CountAsMetProps {
  /** The held-out score, where it meets the stage's rule. */
  readonly score: number | null;
  readonly isPending: boolean;
  readonly onClick: (score: number) => void;
}

/** What training would only repeat is skipped. */
function CountAsMet({ score, isPending, onClick }: CountAsMetProps) {
  if (score === null) return null;
  return (
    <Button onClick={() => onClick(score)} loading={isPending}>
      Count as met, go to the next stage
    </Button>
  );
}
