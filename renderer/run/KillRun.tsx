import { useMutation } from '@tanstack/react-query';
import type { RunDetail } from '../../main/services/run-history.ts';
import { client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';

export interface KillRunProps {
  readonly detail: RunDetail;
  /** The step that it is at. */
  readonly step: number;
  readonly onClose: () => void;
}

/** Asks before the trainer is ended at once, saying what is lost by it. */
export function KillRun({ detail: { id, name, checkpoints }, step, onClose }: KillRunProps) {
  const kill = useMutation({ mutationFn: () => client.runs.kill({ runId: id }), onSuccess: onClose });
  const saved = checkpoints.filter(({ deletedAt }) => deletedAt === null).at(-1)?.step ?? 0;
  return (
    <Confirm opened title={`Kill ${name}?`} action="Kill" dangerous mutation={kill} onClose={onClose}>
      <p>
        The trainer ends at once, in the middle of its step.{' '}
        {saved === 0
          ? 'There is no checkpoint yet: a resumed run begins anew.'
          : `A resumed run goes on from the checkpoint of step ${saved}${step > saved ? `; what came after is made again` : ''}.`}
      </p>
      <p className="soft">Stop &amp; save loses nothing: it finishes the step and writes a checkpoint.</p>
    </Confirm>
  );
}
