/** Makes a conversation up to one answer a record of a dataset: as a prompt, or with the answer as its target. */
import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../../api/client.ts';
import { Choice } from '../../components/Choice.tsx';
import { Conversation } from '../../components/Conversation.tsx';
import { Failed, Loading } from '../../components/Feedback.tsx';
import { counted } from '../../components/format.ts';
import { isolated } from '../../components/isolated.ts';
import { Link } from '../../components/Link.tsx';
import { Segments } from '../../components/Segments.tsx';
import { useDiscardQuestion } from '../../components/use-discard-question.tsx';
import { Field } from '../Field.tsx';
import prompts from '../Playground.module.css';
import classes from './Chat.module.css';
import type { Said } from './conversation.ts';

export interface AddRecordProps {
  /** They end with the answer. */
  readonly messages: readonly Said[];
  readonly onClose: () => void;
}

const NEW = 'new';
const NEW_NAME = 'chat';

export function AddRecord({ messages, onClose }: AddRecordProps) {
  const targets = useQuery(api.chat.recordTargets.queryOptions());
  const [task, setTask] = useState('');
  const [dataset, setDataset] = useState('');
  const [name, setName] = useState(NEW_NAME);
  const [side, setSide] = useState<'train' | 'test'>('train');
  const [use, setUse] = useState<'target' | 'prompt'>('target');
  const target = targets.data?.find((known) => known.task === task) ?? targets.data?.[0];
  const chosen =
    target?.datasets.find(({ id }) => String(id) === dataset) ?? (dataset === NEW ? undefined : target?.datasets[0]);
  const written = use === 'target' ? messages : messages.slice(0, -1);
  const add = useMutation({
    mutationFn: () =>
      client.chat.addRecord({
        task: target?.task ?? '',
        dataset: chosen === undefined ? { name } : { id: chosen.id },
        side: chosen === undefined ? 'train' : side,
        messages: [...written],
      }),
  });
  const isChosen = task !== '' || dataset !== '' || name !== NEW_NAME || side !== 'train' || use !== 'target';
  const { ask, question } = useDiscardQuestion({
    isChanged: () => isChosen && !add.isPending && !add.isSuccess,
    close: onClose,
  });
  /** Whatever is chosen after a record was added is another one. */
  const choosing =
    <T,>(set: (next: T) => void) =>
    (next: T): void => {
      set(next);
      add.reset();
    };
  return (
    <>
      <Modal opened onClose={() => ask(onClose)} title="Add to a dataset" size="lg">
        {targets.error !== null && (
          <Failed what="The tasks can't be listed" error={targets.error} onRetry={() => void targets.refetch()} />
        )}
        {targets.data === undefined && targets.error === null && <Loading what="the datasets" />}
        {targets.data?.length === 0 && (
          <p>
            No task’s records are conversations. <Link href="/tasks">Make one</Link> with a field of type{' '}
            <code className="mono">messages</code>.
          </p>
        )}
        {target !== undefined && (
          <div className={classes.record}>
            <Segments
              aria-label="What becomes of the answer"
              data={[
                { value: 'target', label: 'The answer is the target' },
                { value: 'prompt', label: 'Only what was asked' },
              ]}
              value={use}
              onChange={choosing(setUse)}
            />
            <p className="soft">
              {use === 'target'
                ? 'Supervised training fits the answer, and its length sets how long completions may be. Edit the answer first to teach another one.'
                : 'A prompt without a target: the model answers it in training, and the reward judges that.'}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
            <section className={classes.preview} aria-label="The record" tabIndex={0}>
              <Conversation messages={written} label="Messages of the record" user="User" />
            </section>
            <div className={prompts.options}>
              <Field label="Task">
                {(id) => (
                  <Choice
                    {...{ id }}
                    width={200}
                    data={(targets.data ?? []).map((known) => ({
                      value: known.task,
                      label: known.title ?? known.task,
                    }))}
                    value={target.task}
                    onChange={choosing((next) => {
                      setTask(next);
                      setDataset('');
                    })}
                  />
                )}
              </Field>
              <Field label="Dataset">
                {(id) => (
                  <Choice
                    {...{ id }}
                    width={220}
                    data={[
                      ...target.datasets.map((known) => ({
                        value: String(known.id),
                        label: `${isolated(known.name)}, ${counted(known.trainN + known.testN, 'record')}`,
                      })),
                      { value: NEW, label: 'A new dataset …' },
                    ]}
                    value={chosen === undefined ? NEW : String(chosen.id)}
                    onChange={choosing(setDataset)}
                  />
                )}
              </Field>
              {chosen === undefined ? (
                <Field label="Name">
                  {(id) => (
                    <input
                      id={id}
                      className="box"
                      maxLength={60}
                      value={name}
                      onChange={({ currentTarget }) => choosing(setName)(currentTarget.value)}
                    />
                  )}
                </Field>
              ) : (
                <Field label="Side">
                  {(id) => (
                    <Choice
                      {...{ id }}
                      width={130}
                      data={[
                        { value: 'train', label: 'training' },
                        { value: 'test', label: 'held out' },
                      ]}
                      value={side}
                      onChange={choosing(setSide)}
                    />
                  )}
                </Field>
              )}
            </div>
            {add.error !== null && <Failed what="The record could not be added" error={add.error} />}
            <div className={classes.editButtons}>
              <Button
                color="teal"
                loading={add.isPending}
                disabled={add.isSuccess || (chosen === undefined && name.trim() === '')}
                onClick={() => add.mutate()}
              >
                Add record
              </Button>
              <span role="status">
                {add.data !== undefined && (
                  <>
                    Added as {add.data.id} to <Link href={`/texts/dataset/${add.data.datasetId}`}>{add.data.name}</Link>
                    , which has {counted(add.data.trainN + add.data.testN, 'record')} now
                  </>
                )}
              </span>
            </div>
          </div>
        )}
      </Modal>
      {question}
    </>
  );
}
