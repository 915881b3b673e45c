/** The suggested next step, with a button for it. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Curriculum } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { PausedQueue } from '../curriculum/PausedQueue.tsx';
import { currentPath, navigateFrom } from '../frame/hash-location.ts';
import { BraidPicture } from './BraidPicture.tsx';
import classes from './Home.module.css';
import type { NextStep } from './next-step.ts';

export interface NextProps {
  readonly step: NextStep;
  readonly curriculum: Curriculum;
}

export function Next({ step, curriculum }: NextProps) {
  if (step.kind === 'demo') return <Demo />;
  if (step.kind === 'held') {
    return (
      <Panel title="Next" actions={<Link href="/curriculum">Open the curriculum</Link>}>
        <PausedQueue curriculum={curriculum} />
      </Panel>
    );
  }
  return (
    <Panel title="Next" className={classes.next ?? ''}>
      <p>{sentence(step)}</p>
      <Button component={Link} href={step.kind === 'done' ? '/compare' : '/curriculum'}>
        {step.kind === 'done' ? 'Compare with the baseline' : 'Open the curriculum'}
      </Button>
    </Panel>
  );
}

function sentence(step: Exclude<NextStep, { kind: 'demo' | 'held' }>): string {
  switch (step.kind) {
    case 'plan':
      return 'Plan a curriculum from short texts to long ones. Each stage starts from the previous checkpoint.';
    case 'stage':
      return `The next stage is ${step.name}. ${step.why}`;
    case 'done':
      return `${step.stages === 1 ? 'The stage is' : `All ${step.stages} stages are`} done.${step.warning === undefined ? '' : ` ${step.warning}`} Compare with the baseline on held-out prompts, or plan longer stages in the curriculum.`;
  }
}

/** What a new user sees: an introduction and one button. */
function Demo() {
  const start = useMutation({
    mutationFn: () => client.stages.demo(),
    onMutate: currentPath,
    onSuccess: ({ runId }, _, from) => navigateFrom(from, `/runs/${runId}`),
  });
  return (
    <Panel className={classes.demo ?? ''}>
      <div>
        <h2>Teach a model to braid two texts</h2>
        <p>
          Braid comes with a small model. It can interleave two texts word by word, but usually writes one after the
          other. GRPO changes that within minutes on this machine's CPU: it samples sixteen completions per prompt,
          scores them against the exact target, and makes the better ones more likely.
        </p>
        <div className={classes.buttons}>
          <Button size="sm" loading={start.isPending} onClick={() => start.mutate()}>
            Run the demo stage
          </Button>
          <Button size="sm" variant="default" component={Link} href="/texts">
            Start with your own texts
          </Button>
        </div>
        <p className="faint">
          Makes 512 ten-word pairs from the bundled texts, evaluates the baseline, trains for 45 steps and opens the
          run.
        </p>
        {start.error !== null && <Failed what="The demo was not started" error={start.error} />}
      </div>
      <BraidPicture />
    </Panel>
  );
}
