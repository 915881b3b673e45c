/** The small-scale test before a long run: four criteria, go or no-go. */

import { Button } from '@mantine/core';
import type { ReplyDesk } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { counted, duration, score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { visible } from '../components/visible.ts';
import { When } from '../components/When.tsx';
import { Checks } from './Checks.tsx';
import classes from './Replies.module.css';
import type { ReplyWork } from './use-reply-work.ts';
import { criterionVerdicts } from './words.ts';

export interface TrialProps {
  readonly trial: ReplyDesk['trial'];
  readonly seed: number;
  readonly work: ReplyWork;
}

export function Trial({ trial, seed, work }: TrialProps) {
  return (
    <Panel
      title="Small-scale test"
      actions={
        <Button
          variant="default"
          disabled={work.isBusy}
          onClick={() => work.begin('The test was not started', () => client.replies.trial({ seed }))}
        >
          {trial === null ? 'Run test' : 'Run again'}
        </Button>
      }
    >
      {trial === null ? (
        <p className="soft">
          Not run yet. It takes 100 examples through split, SFT and GRPO, and gives a go or no-go before you commit to a
          long run.
        </p>
      ) : (
        <>
          <p className={classes.verdict} data-go={trial.go}>
            <strong>{trial.go ? 'Go' : 'No-go'}</strong>: {counted(trial.examples, 'example')} in{' '}
            {duration(trial.seconds)}, <When at={trial.at} />.{' '}
            {trial.runIds.map((id) => (
              <Link key={id} href={`/runs/${id}`}>
                run {id}{' '}
              </Link>
            ))}
          </p>
          <Checks checks={criterionVerdicts(trial.criteria)} />
          {trial.samples.length > 0 && <SampleReplies samples={trial.samples} />}
        </>
      )}
    </Panel>
  );
}

/** Some of its last replies to read: no criterion can tell whether they make sense. */
function SampleReplies({ samples }: Pick<NonNullable<TrialProps['trial']>, 'samples'>) {
  return (
    <details className={classes.some}>
      <summary>{samples.length} of the last replies to one post, with rewards</summary>
      <p className="soft">{samples[0]?.prompt}</p>
      <ol>
        {samples.map(({ completion, reward }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: replies may repeat; their position is their identity
          <li key={at}>
            <span className="num">{score(reward)}</span> {visible(completion)}
          </li>
        ))}
      </ol>
    </details>
  );
}
