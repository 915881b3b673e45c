/** A new task: its name, and the task or server that it starts from. */
import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { TaskSummary } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { DialogForm } from '../components/DialogForm.tsx';
import { useHostPath } from '../components/host-folders/use-host-path.tsx';
import { LongSelect } from '../components/LongSelect.tsx';
import { Segments } from '../components/Segments.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { NewServedTask, type ServedChoice } from './NewServedTask.tsx';
import classes from './Tasks.module.css';
import { templateWords } from './template-words.ts';

export interface NewTaskProps {
  readonly tasks: readonly TaskSummary[];
  /** The task to copy, chosen before. */
  readonly from?: string;
  readonly onClose: () => void;
}

const FIRST = 'exact-match';
const SOURCES = [
  { value: 'template', label: 'A task here' },
  { value: 'folder', label: 'A folder' },
  { value: 'server', label: 'An OpenEnv server' },
] as const;
type Source = (typeof SOURCES)[number]['value'];
const WANTED = { what: 'folder', sign: { file: 'task.yaml', word: 'task' } } as const;

export function NewTask({ tasks, from, onClose }: NewTaskProps) {
  const suggested = from === undefined ? '' : `my-${from}`;
  const [name, setName] = useState(suggested);
  const [source, setSource] = useState<Source>('template');
  const [template, setTemplate] = useState(from ?? FIRST);
  const [served, setServed] = useState<ServedChoice>(null);
  const host = useHostPath({
    wanted: WANTED,
    label: 'Folder of the task',
    description: 'On the machine that runs Braid; it has task.yaml. Its files are copied, and nothing in it is run.',
    placeholder: '~/tasks/my-task',
    onChange: () => create.reset(),
  });
  const [, navigate] = useLocation();
  const discard = useDiscardQuestion({
    isChanged: () => name !== suggested || template !== (from ?? FIRST) || host.value.trim() !== '' || served !== null,
    close: onClose,
  });
  const create = useMutation({
    mutationFn: async () => {
      const own = name.trim();
      if (source === 'server' && served !== null) return client.tasks.createServed({ name: own, ...served });
      if (source === 'folder') return client.tasks.add({ name: own, path: (await host.locate()).path });
      return client.tasks.create({ name: own, from: template });
    },
    onSuccess: (made) => discard.proceed(() => navigate(`/tasks/${made.name}`)),
  });
  const fits = /^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name.trim());
  const isChosen = { template: true, folder: host.value.trim() !== '', server: served?.forms.message.trim() }[source];
  const ready = fits && Boolean(isChosen);
  return (
    <DialogForm
      title={from === undefined ? 'New task' : `Copy ${from}`}
      action={from === undefined ? 'Create' : 'Copy'}
      what="The task was not made"
      size="md"
      disabled={!ready}
      discard={discard}
      mutation={create}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Letters, digits, - and _: the folder's name in the workspace"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={name.trim() !== '' && !fits ? 'Letters, digits, - and _ only' : undefined}
        data-autofocus
        maxLength={64}
      />
      {from === undefined && (
        <div>
          <span className={classes.label}>Starts from</span>
          <Segments
            aria-label="Starts from"
            data={SOURCES}
            value={source}
            onChange={(next) => {
              setSource(next);
              setServed(null);
              create.reset();
            }}
          />
        </div>
      )}
      {from === undefined && source === 'template' && (
        <LongSelect
          aria-label="Task to copy"
          description={templateWords[template]}
          inputWrapperOrder={['input', 'description']}
          data={tasks.map(({ name: own, title }) => ({ value: own, label: `${own}: ${title ?? 'unreadable'}` }))}
          renderOption={({ option: { value, label } }) => (
            <span className={classes.template}>
              <span>{label}</span>
              <span className="faint">{templateWords[value]}</span>
            </span>
          )}
          value={template}
          onChange={(value) => setTemplate(value ?? FIRST)}
          allowDeselect={false}
          nothingFoundMessage="No matching tasks"
        />
      )}
      {source === 'folder' && host.field}
      {source === 'server' && (
        <NewServedTask
          onChange={(choice) => {
            setServed(choice);
            create.reset();
          }}
        />
      )}
    </DialogForm>
  );
}
