/** The buttons of a live run: pause or resume, stop. */
import { Button } from '@mantine/core';
import { IconDeviceFloppy, IconPlayerPauseFilled, IconPlayerPlayFilled } from '@tabler/icons-react';
import type { LiveStatus } from '../../main/api/contract/index.ts';
import type { RunActions } from './use-run-actions.ts';

export interface LiveButtonsProps {
  readonly state: LiveStatus['state'];
  readonly actions: RunActions;
}

export function LiveButtons({ state, actions }: LiveButtonsProps) {
  return (
    <>
      {state === 'paused' ? (
        <Button
          leftSection={<IconPlayerPlayFilled size={12} aria-hidden="true" />}
          loading={actions.isBusy}
          onClick={() => actions.resume()}
        >
          Resume
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerPauseFilled size={12} aria-hidden="true" />}
          disabled={state !== 'running'}
          loading={actions.isBusy}
          onClick={actions.pause}
        >
          Pause
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<IconDeviceFloppy size={14} aria-hidden="true" />}
        disabled={state === 'stopping' || state === 'ending'}
        onClick={actions.stop}
      >
        Stop &amp; save
      </Button>
    </>
  );
}
