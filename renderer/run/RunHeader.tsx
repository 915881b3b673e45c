/** The header of the run page: the run's status and controls. */
import { Button, Menu } from '@mantine/core';
import { IconCopy, IconFlask, IconPencil, IconPlayerPlayFilled, IconSkull, IconTrash } from '@tabler/icons-react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { duration } from '../components/format.ts';
import { MoreButton } from '../components/MoreMenu.tsx';
import { ProgressBar } from '../components/ProgressBar.tsx';
import { Share } from '../components/Share.tsx';
import { Silence } from '../components/Silence.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { CompareLink } from './CompareLink.tsx';
import { canCompare, controlOf } from './control.ts';
import { LiveButtons } from './LiveButtons.tsx';
import { shownState, waitsFor } from './live-words.ts';
import classes from './Run.module.css';
import type { RunFeed } from './run-feed.ts';
import type { RunActions } from './use-run-actions.ts';

export interface StandingProps {
  readonly feed: RunFeed;
  /** An ended run is being resumed: its history and its model are read before it has a trainer. */
  readonly isResuming: boolean;
}

export function Standing({ feed: { run, live }, isResuming }: StandingProps) {
  const step = live?.step ?? run.step;
  const maxSteps = live?.maxSteps ?? run.maxSteps;
  const resuming = isResuming ? 'resuming …' : null;
  const waits = live === null ? resuming : waitsFor(live, run.state === 'failed' ? 'failed' : 'saved');
  return (
    <>
      <StateBadge state={live === null ? run.state : shownState(live)} />
      <ProgressBar value={maxSteps === 0 ? 0 : (step / maxSteps) * 100} aria-label="Steps done" />
      <span className="num">
        {step}/{maxSteps}
      </span>
      {live !== null && live.silentSeconds !== null && <Silence seconds={live.silentSeconds} />}
      {live !== null && live.state === 'running' && live.silentSeconds === null && live.secondsLeft !== null && (
        <span className={`num ${classes.left}`}>{duration(live.secondsLeft)} left</span>
      )}
      <span role="status">{waits}</span>
    </>
  );
}

export interface ControlsProps {
  readonly feed: RunFeed;
  readonly detail: RunDetail;
  readonly actions: RunActions;
  readonly onAsk: (question: 'resume' | 'clone' | 'sweep' | 'kill' | 'rename' | 'delete') => void;
}

export function Controls({ feed: { run, live }, detail, actions, onAsk }: ControlsProps) {
  const control = controlOf({ run, live });
  const [isImported, isElsewhere] = [control === 'imported', control === 'elsewhere'];
  return (
    <>
      {isElsewhere && <span className="soft">training in another process</span>}
      {isImported && <span className="soft">trained by TRL, imported</span>}
      {live === null && !isElsewhere && !isImported && (
        <Button
          {...(run.state === 'done' && { variant: 'default' })}
          leftSection={<IconPlayerPlayFilled size={12} />}
          loading={actions.isBusy}
          onClick={() => onAsk('resume')}
        >
          {actions.isBusy ? 'Resuming …' : 'Resume from …'}
        </Button>
      )}
      {canCompare({ run, live }) && <CompareLink detail={detail} />}
      {run.step > 0 && <Share subject={{ of: 'run', id: run.id }} hasTexts />}
      {live !== null && <LiveButtons live={live} actions={actions} />}
      <MoreButton>
        {() => (
          <>
            <Menu.Item leftSection={<IconCopy size={14} />} onClick={() => onAsk('clone')}>
              Clone with changes …
            </Menu.Item>
            <Menu.Item leftSection={<IconFlask size={14} />} onClick={() => onAsk('sweep')}>
              Sweep from this run …
            </Menu.Item>
            <Menu.Item leftSection={<IconPencil size={14} />} onClick={() => onAsk('rename')}>
              Rename …
            </Menu.Item>
            {live !== null && live.state !== 'ending' && (
              <Menu.Item color="red" leftSection={<IconSkull size={14} />} onClick={() => onAsk('kill')}>
                Kill …
              </Menu.Item>
            )}
            {live === null && !isElsewhere && (
              <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => onAsk('delete')}>
                Delete …
              </Menu.Item>
            )}
          </>
        )}
      </MoreButton>
    </>
  );
}
