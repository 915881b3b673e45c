/** A stage's pre-flight check, with buttons to start, queue or adjust it. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { StageView } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from '../components/preflight/Preflight.module.css';
import { isCrowded, Preflight } from '../components/preflight/Preflight.tsx';

export interface StagePreflightProps {
  readonly stage: StageView;
  readonly onAdjust: () => void;
  readonly onClose: () => void;
}

export function StagePreflight({ stage, onAdjust, onClose }: StagePreflightProps) {
  const { id: stageId, name } = stage;
  const [, navigate] = useLocation();
  const start = useMutation({
    mutationFn: () => client.stages.start({ stageId }),
    onSuccess: ({ runId }) => navigate(`/runs/${runId}`),
  });
  const enqueue = useMutation({ mutationFn: () => client.stages.enqueue({ stageId }), onSuccess: onClose });
  const error = start.error ?? enqueue.error;
  return (
    <Preflight
      title={`${name}: pre-flight check`}
      run={(signal) => client.stages.preflight({ stageId }, { signal })}
      onClose={onClose}
    >
      {(blocked, report) => (
        <>
          {error !== null && <Failed what="The stage was not started" error={error} />}
          <div className={classes.actions}>
            <Button
              variant={isCrowded(report) ? 'default' : 'filled'}
              onClick={() => start.mutate()}
              disabled={blocked}
              loading={start.isPending}
            >
              Start
            </Button>
            <Button
              variant={isCrowded(report) ? 'filled' : 'default'}
              onClick={() => enqueue.mutate()}
              disabled={blocked}
              loading={enqueue.isPending}
            >
              Queue it
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
