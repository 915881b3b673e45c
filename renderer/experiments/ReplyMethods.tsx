/** The four methods of the reply system with several seeds, as one sweep, in one click. */
import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { SweepEstimate } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { numbersFrom } from '../components/config-form/entry.ts';
import { Failed } from '../components/Feedback.tsx';
import { JobProgress } from '../components/JobProgress.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { useWaitedFor } from '../components/use-waited-for.ts';
import form from './NewSweep.module.css';
import { estimateInWords } from './words.ts';

/** Four, as many as there are methods. */
const SEEDS = '42, 43, 44, 45';

export function ReplyMethods({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState(SEEDS);
  const [, navigate] = useLocation();
  const seeds = numbersFrom(typed, false) as readonly unknown[];
  const valid = seeds.filter((seed): seed is number => Number.isSafeInteger(seed) && Number(seed) >= 0);
  const isValid = valid.length > 0 && valid.length === seeds.length && new Set(valid).size === valid.length;
  const count = isValid ? `${4 * valid.length} runs` : 'runs';
  const { ask, proceed, question } = useDiscardQuestion({ isChanged: () => typed !== SEEDS, close: onClose });
  const estimate = useWaitedFor<void, SweepEstimate>((_, options) =>
    client.sweeps.estimateReplies({ seeds: valid }, options),
  );
  const start = useMutation({
    mutationFn: () => client.sweeps.startReplies({ seeds: valid }),
    onSuccess: ({ sweepId }) => proceed(() => navigate(`/experiments/${sweepId}`)),
  });
  return (
    <>
      <Modal opened onClose={() => ask(onClose)} title="Reply methods × seeds">
        <p>
          Trains the baseline, the polychromic baseline, GRPO and polychromic GRPO with each seed, and compares them in
          one table. GRPO starts from the baseline of its own seed, or from the checkpoint chosen on the Replies screen.
          Replies that haven't been split are split first.
        </p>
        <TextInput
          label="Seeds"
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            // It was that of other seeds.
            estimate.reset();
          }}
          error={isValid ? null : 'Expected different whole numbers, separated by commas'}
          data-autofocus
        />
        <p className="num" role="status">
          {estimate.data !== undefined && !estimate.isPending && estimateInWords(estimate.data)}
        </p>
        {estimate.isPending && <JobProgress kinds={['preflight']} />}
        {estimate.error !== null && <Failed what="The estimate did not finish" error={estimate.error} />}
        {start.error !== null && <Failed what="The sweep was not started" error={start.error} />}
        <div className={form.foot}>
          <Button variant="default" onClick={() => ask(onClose)}>
            Cancel
          </Button>
          <Button variant="default" disabled={!isValid} loading={estimate.isPending} onClick={() => estimate.mutate()}>
            Estimate
          </Button>
          <Button disabled={!isValid || estimate.isPending} loading={start.isPending} onClick={() => start.mutate()}>
            Add {count} to queue
          </Button>
        </div>
      </Modal>
      {question}
    </>
  );
}
