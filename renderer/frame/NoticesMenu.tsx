import { ActionIcon, Popover, UnstyledButton } from '@mantine/core';
import { IconBell, IconX } from '@tabler/icons-react';
import type { Notice } from '../../main/services/notices.ts';
import { client } from '../api/client.ts';
import { Link } from '../components/Link.tsx';
import { When } from '../components/When.tsx';
import classes from './Frame.module.css';

/** What happened while one looked elsewhere. */
export function NoticesMenu({ notices }: { readonly notices: readonly Notice[] }) {
  const urgent = notices.some(({ severity }) => severity !== 'info');
  return (
    <Popover position="top-end" width={420} withinPortal>
      <Popover.Target>
        <UnstyledButton className={classes.bell} data-tone={urgent ? 'warn' : undefined}>
          <IconBell size={14} aria-hidden="true" />
          {notices.length === 0 ? 'No notices' : `${notices.length} ${notices.length === 1 ? 'notice' : 'notices'}`}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <ul className={classes.notices} aria-label="Notices">
          {notices.length === 0 && <li className="soft">Ends of runs, warnings and failures are told here.</li>}
          {notices.map((notice) => (
            <li key={notice.id} data-tone={notice.severity === 'error' ? 'bad' : notice.severity}>
              <div>
                <p>{notice.message}</p>
                {notice.remedy !== null && <p className="soft">{notice.remedy}</p>}
                <p className="faint">
                  <When at={notice.at} />{' '}
                  {notice.runId !== null && <Link href={`/runs/${notice.runId}`}>Open the run</Link>}
                </p>
              </div>
              <ActionIcon aria-label="Dismiss" onClick={() => void client.app.dismissNotice({ id: notice.id })}>
                <IconX size={14} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  );
}
