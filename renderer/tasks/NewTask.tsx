/** A new task: its name, and the task that it starts as a copy of. */
import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { TaskSummary } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import classes from './Tasks.module.css';

export interface NewTaskProps {
  readonly tasks: readonly TaskSummary[];
  /** The task to copy, chosen before. */
  readonly from?: string;
  readonly onClose: () => void;
}

const FIRST = 'exact-match';

export function NewTask({ tasks, from, onClose }: NewTaskProps) {
  const suggested = from === undefined ? '' : `my-${from}`;
  const [name, setName] = useState(suggested);
  const [template, setTemplate] = useState(from ?? FIRST);
  const [, navigate] = useLocation();
  const { ask, proceed, question } = useDiscardQuestion({ isChanged: () => name !== suggested, close: onClose });
  const create = useMutation({
    mutationFn: () => client.tasks.create({ name: name.trim(), from: template }),
    onSuccess: (made) => proceed(() => navigate(`/tasks/${made.name}`)),
  });
  const fits = /^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name.trim());
  return (
    <>
      <Modal opened onClose={() => ask(onClose)} title={from === undefined ? 'New task' : `Copy ${from}`}>
        <form
          className={classes.dialog}
          onSubmit={(event) => {
            event.preventDefault();
            if (fits) create.mutate();
          }}
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
            <Select
              label="Starts as a copy of"
              data={tasks.map(({ name: own, title }) => ({ value: own, label: `${own}: ${title ?? 'unreadable'}` }))}
              value={template}
              onChange={(value) => setTemplate(value ?? FIRST)}
              allowDeselect={false}
              searchable
            />
          )}
          {create.error !== null && <Failed what="The task was not made" error={create.error} />}
          <div className={classes.buttons}>
            <Button variant="default" onClick={() => ask(onClose)}>
              Cancel
            </Button>
            <Button type="submit" disabled={!fits} loading={create.isPending}>
              {from === undefined ? 'Create' : 'Copy'}
            </Button>
          </div>
        </form>
      </Modal>
      {question}
    </>
  );
}
