/** Every task with files: the workspace's, then the bundled ones; a new one starts as a copy. */
import { Button, Table, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { memo, useMemo, useRef, useState } from 'react';
import type { TaskSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { folded } from '../components/folded.ts';
import { counted } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import rows from '../components/TableRows.module.css';
import { useTableRows } from '../components/use-table-rows.ts';
import { useKeys } from '../frame/keys.tsx';
import { hasDraft } from './draft-store.ts';
import { NewTask } from './NewTask.tsx';
import classes from './Tasks.module.css';

export function Tasks() {
  const { data, error, refetch } = useQuery(api.tasks.list.queryOptions());
  const [creating, setCreating] = useState(false);
  useKeys(useMemo(() => [{ key: 'n', label: 'New task', run: () => setCreating(true) }], []));
  const own = data?.filter(({ origin }) => origin === 'workspace') ?? [];
  const bundled = data?.filter(({ origin }) => origin === 'bundled') ?? [];
  return (
    <Screen
      title="Tasks"
      about={<span>What the model is asked, and what its answers are worth</span>}
      actions={
        <Button leftSection={<IconPlus size={14} aria-hidden="true" />} onClick={() => setCreating(true)}>
          New task …
        </Button>
      }
    >
      {error !== null && <Failed what="The tasks can't be listed" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the tasks" />}
      {data !== undefined && (
        <>
          <Panel title="In this workspace">
            {own.length === 0 ? (
              <p className="soft">
                None yet. A new task starts as a copy of a bundled one: change its reward, see at once what it would
                give, then train with it.
              </p>
            ) : (
              <OwnTasks tasks={own} />
            )}
          </Panel>
          <Panel title="Bundled">
            <TaskTable label="Bundled tasks" tasks={bundled} />
            <p className={`soft ${classes.after}`}>
              Interleaving and replies are built in, with screens of their own: <Link href="/texts">Texts</Link>,{' '}
              <Link href="/replies">Replies</Link>.
            </p>
          </Panel>
        </>
      )}
      {creating && <NewTask tasks={data ?? []} onClose={() => setCreating(false)} />}
    </Screen>
  );
}

/** Fewer are seen at a glance. */
const SEARCHED_FROM = 12;
const ROW = 30;
/** Fewer are listed whole; more scroll in a room of their own, so that only those in view are rendered. */
const SCROLLED_FROM = 40;

function OwnTasks({ tasks }: { readonly tasks: readonly TaskSummary[] }) {
  const [search, setSearch] = useState('');
  const wanted = folded(search.trim());
  const found = tasks.filter(({ name, title }) => folded(`${name} ${title ?? ''}`).includes(wanted));
  return (
    <>
      {tasks.length >= SEARCHED_FROM && (
        <TextInput
          className={classes.find ?? ''}
          aria-label="Search tasks"
          placeholder={`Search ${counted(tasks.length, 'task')}`}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      {found.length === 0 && <p className="soft">No task has “{search}” in its name or title.</p>}
      <TaskTable label="Tasks of the workspace" tasks={found} />
    </>
  );
}

function TaskTable({ label, tasks }: { readonly label: string; readonly tasks: readonly TaskSummary[] }) {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const scroller = useRef<HTMLElement>(null);
  const { shown, before, after, measure } = useTableRows({ count: tasks.length, scroller, height: ROW });
  const isLong = tasks.length >= SCROLLED_FROM || undefined;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section ref={scroller} className={classes.table} data-long={isLong} tabIndex={0} aria-label={label}>
      <Table highlightOnHover stickyHeader aria-label={label} aria-rowcount={tasks.length + 1}>
        <Table.Thead>
          <Table.Tr>
            {['Name', 'Title', 'Reward', 'Check', 'Records'].map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className={rows.body ?? ''}>
          {before > 0 && <tr style={{ height: before }} />}
          {shown.map((index) => {
            const task = tasks[index];
            if (task === undefined) return null;
            const isDraft = info !== undefined && hasDraft({ workspace: info.workspace, name: task.name });
            return <Row key={task.name} {...{ task, index, isDraft, measure }} />;
          })}
          {after > 0 && <tr style={{ height: after }} />}
        </Table.Tbody>
      </Table>
    </section>
  );
}

interface RowProps {
  readonly task: TaskSummary;
  readonly index: number;
  /** Whether it has changes that aren't saved. */
  readonly isDraft: boolean;
  readonly measure: (row: HTMLElement | null) => void;
}

const Row = memo(function Row({ task, index, isDraft, measure }: RowProps) {
  const { name, title, rewards, kinds, check, hasRecords, problem } = task;
  return (
    <tr ref={measure} data-index={index} aria-rowindex={index + 2}>
      <td className={classes.name}>
        <Link href={`/tasks/${name}`}>{name}</Link>
        {isDraft && <span className={classes.unsaved}> unsaved changes</span>}
      </td>
      <td className={classes.title}>{title ?? <span className={classes.bad}>{problem}</span>}</td>
      <td className={`mono ${classes.reward}`}>
        {rewards.map((reward) => (kinds[reward] === undefined ? reward : `${reward} (${kinds[reward]})`)).join(', ')}
      </td>
      <td className="mono">{check ?? '–'}</td>
      <td>{hasRecords ? 'yes' : '–'}</td>
    </tr>
  );
});
