/** Says why the queue is paused, with buttons to resume its stage or to skip it. */
import { Button } from '@mantine/core';
import { IconPlayerPause } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Curriculum } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from './Curriculum.module.css';
import { releaseLabel, runToResume } from './words.ts';

export function PausedQueue({ curriculum }: { readonly curriculum: Curriculum }) {
  const { stages, queue, held, heldFor } = curriculum;
  const resume = useMutation({ mutationFn: (runId: number) => client.runs.resume({ runId }) });
  const release = useMutation({ mutationFn: () => client.stages.release() });
  if (held === null) return null;
  const stage = stages.find(({ id }) => id === heldFor);
  const runId = stage === undefined ? null : runToResume(stage);
  const next = stages.find(({ id }) => id === queue[0])?.name;
  const releaseName = releaseLabel(next, runId);
  const lacks = stage?.run?.lacks ?? [];
  const error = resume.error ?? release.error;
  return (
    <>
      <div className={classes.held} role="status">
        <IconPlayerPause size={15} aria-hidden="true" />
        <span>
          The queue is paused. {held}
          {lacks.length > 0 && `. ${lacks.join('. ')}.`}
        </span>
        {stage !== undefined && runId !== null && (
          <Button loading={resume.isPending} disabled={lacks.length > 0} onClick={() => resume.mutate(runId)}>
            Resume {stage.name}
          </Button>
        )}
        {releaseName !== null && (
          <Button variant="default" loading={release.isPending} onClick={() => release.mutate()}>
            {releaseName}
          </Button>
        )}
      </div>
      {error !== null && <Failed error={error} />}
    </>
  );
}
