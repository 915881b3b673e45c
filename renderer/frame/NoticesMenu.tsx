import { ActionIcon, Popover, UnstyledButton } from '@mantine/core';
import { IconBell, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Notice } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { counted } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { When } from '../components/When.tsx';
import classes from './Frame.module.css';

/** What happened while the user was on another screen. */
export function NoticesMenu({ notices }: { readonly notices: readonly Notice[] }) {
  const [opened, setOpened] = useState(false);
  const dismiss = useMutation({ mutationFn: (id: number) => client.app.dismissNotice({ id }) });
  const [location] = useLocation();
  const button = useRef<HTMLButtonElement>(null);
  // It belongs to the screen that it was opened on.
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each change of the location
  useEffect(() => setOpened(false), [location]);
  useEffect(() => {
    if (!opened) return;
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      setOpened(false);
      button.current?.focus();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [opened]);
  const urgent = notices.some(({ severity }) => severity !== 'info');
  return (
    <Popover opened={opened} onChange={setOpened} position="top-end" width="min(420px, 90vw)" withinPortal>
      <Popover.Target>
        <UnstyledButton
          ref={button}
          className={classes.bell}
          data-tone={urgent ? 'warn' : undefined}
          onClick={() => setOpened(!opened)}
        >
          <IconBell size={14} aria-hidden="true" />
          {notices.length === 0 ? 'No notices' : counted(notices.length, 'notice')}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <ul className={classes.notices} aria-label="Notices">
          {notices.length === 0 && <li className="soft">Finished runs, warnings and failures appear here.</li>}
          {notices.map((notice) => (
            <li key={notice.id} data-tone={notice.severity === 'error' ? 'bad' : notice.severity}>
              <div>
                <p>{notice.message}</p>
                {notice.remedy !== null && <p className="soft">{notice.remedy}</p>}
                {dismiss.error !== null && dismiss.variables === notice.id && (
                  <p role="alert">Not dismissed: {failureOf(dismiss.error).message}</p>
                )}
                <p className="faint">
                  <When at={notice.at} />{' '}
                  {notice.runId !== null && <Link href={`/runs/${notice.runId}`}>Open the run</Link>}
                </p>
              </div>
              <ActionIcon aria-label="Dismiss" onClick={() => dismiss.mutate(notice.id)}>
                <IconX size={14} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  );
}
