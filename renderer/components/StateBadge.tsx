/** The state of a run: icon, word and colour, never colour alone. */
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconHandStop,
  IconPlayerPause,
  IconPlugConnectedX,
  IconTrendingDown,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import classes from './StateBadge.module.css';

type Tone = 'live' | 'good' | 'warn' | 'bad' | 'quiet';

const looks: Readonly<
  Record<string, readonly [Tone, ComponentType<{ size?: number; 'aria-hidden'?: 'true' }> | null]>
> = {
  running: ['live', null],
  starting: ['live', null],
  stopping: ['live', null],
  ending: ['live', null],
  pausing: ['live', null],
  resuming: ['live', null],
  paused: ['warn', IconPlayerPause],
  interrupted: ['warn', IconPlugConnectedX],
  stopped: ['quiet', IconHandStop],
  done: ['good', IconCircleCheck],
  'met without training': ['good', IconCircleCheck],
  collapsed: ['bad', IconTrendingDown],
  failed: ['bad', IconCircleX],
  unmet: ['warn', IconAlertTriangle],
  planned: ['quiet', IconCircleDashed],
  queued: ['quiet', IconCircleDashed],
  cancelled: ['quiet', IconCircleX],
};

export function StateBadge({ state }: { readonly state: string }) {
  const [tone, Icon] = looks[state] ?? ['quiet', IconCircleDashed];
  return (
    <span className={`${classes.badge} ${classes[tone]}`}>
      {Icon === null ? <span className={classes.pulse} aria-hidden="true" /> : <Icon size={13} aria-hidden="true" />}
      {state}
    </span>
  );
}
