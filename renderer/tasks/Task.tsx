/** One task: its records, its two texts in the editor, and what its reward would do. */

import { Button, Menu } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { TaskFiles } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { MoreButton } from '../components/MoreMenu.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { useKeys } from '../frame/keys.tsx';
import { latinKey } from '../frame/latin-key.ts';
import { keepDraft } from './draft-store.ts';
import { Editor } from './Editor.tsx';
import { NewTask } from './NewTask.tsx';
import { Records } from './Records.tsx';
import classes from './Task.module.css';
import { Trial } from './Trial.tsx';
import { type DraftEditing, useDraft } from './use-draft.ts';

export function Task({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery(api.tasks.get.queryOptions({ input: { name } }));
  const info = useQuery(api.app.info.queryOptions());
  const failure = error ?? info.error;
  if (data === undefined || info.data === undefined)
    return (
      <Screen title={name} about={<Link href="/tasks">All tasks</Link>}>
        {failure === null ? (
          <Loading what="the task" />
        ) : Object.hasOwn(BUILT_IN, name) ? (
          <BuiltIn name={name as keyof typeof BUILT_IN} />
        ) : (
          <Failed
            what="This task can't be shown"
            error={failure}
            onRetry={() => void Promise.all([refetch(), info.refetch()])}
          />
        )}
      </Screen>
    );
  return <Workbench files={data} workspace={info.data.workspace} />;
}

/** Tasks without files, and the screens that are theirs. */
const BUILT_IN = {
  interleave: {
    title: 'Interleaving',
    does: 'joins two texts word by word',
    href: '/texts',
    place: 'Texts & datasets',
  },
  reply: { title: 'Replies', does: 'writes short replies to posts', href: '/replies', place: 'Replies' },
} as const;

function BuiltIn({ name }: { readonly name: keyof typeof BUILT_IN }) {
  const { title, does, href, place } = BUILT_IN[name];
  return (
    <Panel>
      <Empty title={`${title} is built in`}>
        <p>
          This task {does}; its reward is part of Braid and has no file to edit. It has a screen of its own. To write a
          reward yourself, start from a bundled task.
        </p>
        <Button component={Link} href={href}>
          Open {place}
        </Button>
      </Empty>
    </Panel>
  );
}

/** Waits this long after a keystroke before anything is computed. */
const WAIT_MS = 200;

const FILES = { 'reward.ts': 'reward', 'task.yaml': 'definition' } as const;
type FileName = keyof typeof FILES;
const nothing: readonly never[] = [];

interface WorkbenchProps {
  readonly files: TaskFiles;
  /** The path of the workspace. */
  readonly workspace: string;
}

function Workbench({ files, workspace }: WorkbenchProps) {
  const editing = useDraft(workspace, files);
  const { draft, isChanged } = editing;
  const [settled] = useDebouncedValue(draft, WAIT_MS);
  const [file, setFile] = useState<FileName>(files.reward === '' ? 'task.yaml' : 'reward.ts');
  const isOwn = files.origin === 'workspace';
  const check = useQuery(
    api.tasks.check.queryOptions({ input: settled, placeholderData: (before) => before, retry: false }),
  );
  const { data: functions = nothing } = useQuery(api.tasks.functions.queryOptions());
  const faults = check.data?.faults ?? nothing;
  const shownFaults = useMemo(() => faults.filter((fault) => fault.file === file), [faults, file]);
  const facts = useMemo(
    () => ({ functions, fields: check.data?.facts?.fields ?? {} }),
    [functions, check.data?.facts?.fields],
  );
  const saving = useRef(editing.save);
  saving.current = editing.save;
  useKeys(
    useMemo(
      () => [
        { key: 'e', label: 'Switch between reward.ts and task.yaml', run: () => setFile(otherFile) },
        ...(isOwn ? [{ key: 's', label: 'Save', run: () => void saving.current().catch(() => undefined) }] : []),
      ],
      [isOwn],
    ),
  );
  const count = (of: FileName): string => {
    const { length } = faults.filter((fault) => fault.file === of);
    return length === 0 ? of : `${of} · ${length} to fix`;
  };
  return (
    <Screen
      title={draft.name}
      about={
        <>
          <Link href="/tasks">All tasks</Link>
          <span>{check.data?.facts?.title}</span>
          {isChanged && <span className={classes.unsaved}>unsaved changes</span>}
          {!isOwn && <span className="faint">bundled, read-only</span>}
        </>
      }
      actions={<Actions {...{ files, workspace, editing }} hasFaults={faults.length > 0} />}
    >
      {editing.saveError !== null && <Failed what="The task was not saved" error={editing.saveError} />}
      {check.error !== null && <Failed what="The task can't be checked" error={check.error} />}
      {/* Ctrl+S while typing, where the screen's own keys don't reach. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the fields inside are what the key is typed into */}
      <div
        className={classes.bench}
        onKeyDown={(event) => {
          if (latinKey(event) !== 's' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          if (isOwn) void editing.save().catch(() => undefined);
        }}
      >
        <Records draft={settled} isValid={check.data === undefined ? null : check.data.facts !== null} />
        <section className={classes.editor} aria-label="Editor">
          <div className={classes.tabs}>
            <Segments
              aria-label="File"
              data={[
                { value: 'reward.ts', label: count('reward.ts') },
                { value: 'task.yaml', label: count('task.yaml') },
              ]}
              value={file}
              onChange={setFile}
            />
          </div>
          <div className={classes.code}>
            <Editor
              key={file}
              language={file === 'reward.ts' ? 'typescript' : 'yaml'}
              label={file}
              value={draft[FILES[file]]}
              readOnly={!isOwn}
              faults={shownFaults}
              facts={facts}
              onChange={(text) => editing.edit({ [FILES[file]]: text })}
            />
          </div>
          <Faults faults={shownFaults} isChecked={check.data !== undefined} />
        </section>
        <Trial
          draft={settled}
          isReady={check.data !== undefined && faults.length === 0}
          isChecking={check.data === undefined || check.isPlaceholderData}
          facts={check.data?.facts ?? null}
        />
      </div>
    </Screen>
  );
}

function otherFile(now: FileName): FileName {
  return now === 'reward.ts' ? 'task.yaml' : 'reward.ts';
}

interface FaultsProps {
  readonly faults: readonly {
    readonly line: number | null;
    readonly column: number | null;
    readonly message: string;
  }[];
  readonly isChecked: boolean;
}

/** The faults as text: what the marks in the editor say. */
function Faults({ faults, isChecked }: FaultsProps) {
  return (
    <div className={classes.faults} role="status">
      {faults.length === 0 ? (
        <span className="soft">{isChecked ? 'No faults' : 'Checking …'}</span>
      ) : (
        faults.map(({ line, column, message }) => (
          <p key={`${line}:${column}:${message}`} className={classes.fault}>
            {line !== null && (
              <span className="mono">
                {line}
                {column !== null && `:${column}`}{' '}
              </span>
            )}
            {message}
          </p>
        ))
      )}
    </div>
  );
}

interface ActionsProps extends WorkbenchProps {
  readonly editing: DraftEditing;
  readonly hasFaults: boolean;
}

function Actions({ files, workspace, editing, hasFaults }: ActionsProps) {
  const { name, origin } = files;
  const { isChanged, isSaving, isOverwriting, save, discard } = editing;
  const [dialog, setDialog] = useState<'copy' | 'train' | 'remove' | null>(null);
  const close = (): void => setDialog(null);
  const [, navigate] = useLocation();
  const remove = useMutation({
    mutationFn: () => client.tasks.remove({ name }),
    onSuccess: () => {
      keepDraft({ workspace, name }, null);
      navigate('/tasks');
    },
  });
  const start = useQuery(api.tasks.startConfig.queryOptions({ input: { name }, enabled: dialog === 'train' }));
  const train = async (): Promise<void> => {
    if (isChanged) await save();
    setDialog('train');
  };
  return (
    <>
      {origin === 'workspace' ? (
        <>
          {isChanged && (
            <Button variant="default" onClick={discard}>
              Discard changes
            </Button>
          )}
          <Button
            variant="default"
            disabled={!isChanged}
            loading={isSaving}
            onClick={() => void save().catch(() => undefined)}
          >
            {isOverwriting ? 'Save anyway' : 'Save'}
          </Button>
        </>
      ) : (
        <Button variant="default" onClick={() => setDialog('copy')}>
          Copy to edit …
        </Button>
      )}
      <Button disabled={hasFaults} onClick={() => void train().catch(() => undefined)}>
        Train with this task …
      </Button>
      <MoreButton>
        {() => (
          <>
            <Menu.Item onClick={() => navigate(`/tasks/${name}/import`)}>Import records …</Menu.Item>
            <Menu.Item onClick={() => navigate(`/playground?${new URLSearchParams({ task: name })}`)}>
              Try in Playground
            </Menu.Item>
            {origin === 'workspace' && <Menu.Item onClick={() => setDialog('copy')}>Copy …</Menu.Item>}
            {origin === 'workspace' && (
              <Menu.Item color="red" onClick={() => setDialog('remove')}>
                Delete this task …
              </Menu.Item>
            )}
          </>
        )}
      </MoreButton>
      {dialog === 'copy' && <NewTask tasks={[]} from={name} onClose={close} />}
      {start.error !== null && <Failed what="The task's settings can't be read" error={start.error} />}
      {dialog === 'train' && start.data !== undefined && (
        <FreeRun opened onClose={close} task={{ name, fields: start.data }} />
      )}
      <Confirm
        opened={dialog === 'remove'}
        title={`Delete ${name}?`}
        action="Delete"
        dangerous
        mutation={remove}
        onClose={close}
      >
        Its folder is deleted: task.yaml, reward.ts and the records in it. Runs keep their own copies of the two texts,
        and datasets stay.
      </Confirm>
    </>
  );
}
