/** The buttons of a live run: pause or resume, stop. Each says what it does now, or what is being done. */
import { Button } from '@mantine/core';
import { IconDeviceFloppy, IconPlayerPauseFilled, IconPlayerPlayFilled } from '@tabler/icons-react';
import type { LiveStatus } from '../../main/api/contract/index.ts';
import { shownState } from './live-words.ts';
import type { RunActions } from './use-run-actions.ts';

export interface LiveButtonsProps {
  readonly live: Pick<LiveStatus, 'state' | 'asked'>;
  readonly actions: RunActions;
}

const pauseIcon = <IconPlayerPauseFilled size={12} aria-hidden="true" />;
const playIcon = <IconPlayerPlayFilled size={12} aria-hidden="true" />;

export function LiveButtons({ live, actions }: LiveButtonsProps) {
  const state = shownState(live);
  const isEnding = state === 'stopping' || state === 'ending';
  return (
    <>
      {state === 'paused' || state === 'resuming' ? (
        <Button
          leftSection={playIcon}
          loading={actions.isBusy}
          disabled={state === 'resuming'}
          onClick={() => actions.resume()}
        >
          {state === 'resuming' ? 'Resuming …' : 'Resume'}
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={state === 'pausing' ? playIcon : pauseIcon}
          disabled={state !== 'running' && state !== 'pausing'}
          loading={actions.isBusy}
          onClick={() => (state === 'pausing' ? actions.resume() : actions.pause())}
        >
          {state === 'pausing' ? "Don't pause" : 'Pause'}
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<IconDeviceFloppy size={14} aria-hidden="true" />}
        disabled={isEnding}
        onClick={actions.stop}
      >
        {isEnding ? 'Stopping …' : 'Stop & save'}
      </Button>
    </>
  );
}
