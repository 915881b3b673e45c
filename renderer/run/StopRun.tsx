/** Asks before a key stops a run. */
import { useMutation } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';

export interface StopRunProps {
  readonly detail: RunDetail;
  readonly onClose: () => void;
}

export function StopRun({ detail: { id: runId, name }, onClose }: StopRunProps) {
  const stop = useMutation({ mutationFn: () => client.runs.stop({ runId }), onSuccess: onClose });
  return (
    <Confirm opened title={`Stop ${name}?`} action="Stop & save" mutation={stop} onClose={onClose}>
      The current step is finished and saved. The run can be resumed from there.
    </Confirm>
  );
}
