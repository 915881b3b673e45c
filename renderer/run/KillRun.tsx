import { useMutation } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';

export interface KillRunProps {
  readonly detail: RunDetail;
  /** The current step. */
  readonly step: number;
  readonly onClose: () => void;
}

/** Confirms killing the trainer, and says what is lost. */
export function KillRun({ detail: { id, name, checkpoints }, step, onClose }: KillRunProps) {
  const kill = useMutation({ mutationFn: () => client.runs.kill({ runId: id }), onSuccess: onClose });
  const saved = checkpoints.filter(({ deletedAt }) => deletedAt === null).at(-1)?.step ?? 0;
  return (
    <Confirm opened title={`Kill ${name}?`} action="Kill" dangerous mutation={kill} onClose={onClose}>
      <p>
        The trainer is killed at once, in the middle of its step.{' '}
        {saved === 0
          ? 'There is no checkpoint yet, so resuming restarts the run.'
          : `The run can be resumed from the checkpoint at step ${saved}${step > saved ? '; later steps are trained again' : ''}.`}
      </p>
      <p className="soft">Stop &amp; save loses nothing: it finishes the step and writes a checkpoint.</p>
    </Confirm>
  );
}
