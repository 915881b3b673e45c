/** One text: read, rename, tag, edit, split, undo its merge, delete. */
import { Button, Drawer, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { WholeText } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { type DiscardQuestion, useDiscardQuestion } from '../components/use-discard-question.tsx';
import { When } from '../components/When.tsx';
import { StageTicks } from './StageTicks.tsx';
import { TagsField } from './TagsField.tsx';
import classes from './TextReader.module.css';
import { tagChange } from './tags.ts';

export interface TextReaderProps {
  readonly id: number;
  readonly onClose: (told?: string) => void;
  readonly onRemove: () => void;
  readonly onSplit: (title: string) => void;
}

export function TextReader({ id, onClose, onRemove, onSplit }: TextReaderProps) {
  const { data, error } = useQuery(api.texts.get.queryOptions({ input: { id } }));
  const [entered, setEntered] = useState<Entered>(nothing);
  const isChanged = (): boolean =>
    (entered.title !== null && entered.title !== data?.title) ||
    (entered.words !== null && entered.words !== data?.text);
  const { ask, question } = useDiscardQuestion({ isChanged, close: onClose });
  return (
    <>
      <Drawer
        opened
        onClose={() => ask(onClose)}
        position="right"
        size={620}
        title="Text"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {error !== null && <Failed error={error} />}
        {data === undefined ? (
          error === null && <Loading what="the text" />
        ) : (
          <Reading
            key={data.id}
            text={data}
            {...{ entered, ask, onClose }}
            onEnter={(change) => setEntered((before) => ({ ...before, ...change }))}
            onRemove={() => ask(onRemove)}
            onSplit={(title) => ask(() => onSplit(title))}
          />
        )}
      </Drawer>
      {question}
    </>
  );
}

/** What the user has entered; null: the text's own. */
interface Entered {
  readonly title: string | null;
  /** null: the words aren't being edited. */
  readonly words: string | null;
}

const nothing: Entered = { title: null, words: null };

interface ReadingProps extends Omit<TextReaderProps, 'id'> {
  readonly text: WholeText;
  readonly entered: Entered;
  readonly onEnter: (change: Partial<Entered>) => void;
  readonly ask: DiscardQuestion['ask'];
}

function Reading({ text, entered, onEnter, ask, onClose, onRemove, onSplit }: ReadingProps) {
  const title = entered.title ?? text.title;
  const rename = useMutation(api.texts.rename.mutationOptions());
  const tag = useMutation({
    mutationFn: (tags: string[]) => client.texts.tag({ ids: [text.id], ...tagChange(text.tags, tags) }),
  });
  return (
    <article className={classes.reader}>
      <SubmitForm className={classes.rename} onSubmit={() => rename.mutate({ id: text.id, title })}>
        <TextInput
          label="Title"
          value={title}
          maxLength={120}
          onChange={({ currentTarget }) => onEnter({ title: currentTarget.value })}
        />
        <Button
          type="submit"
          variant="default"
          loading={rename.isPending}
          disabled={title.trim() === '' || title === text.title}
        >
          Rename
        </Button>
      </SubmitForm>
      {rename.error !== null && <Failed error={rename.error} />}
      <TagsField label="Tags" tags={text.tags} onChange={(tags) => tag.mutate(tags)} />
      {tag.error !== null && <Failed what="The tags were not changed" error={tag.error} />}
      <p className={`${classes.facts} soft num`}>
        <span>{counted(text.words, 'word')}</span>
        <StageTicks words={text.words} />
        <span>from {text.source}</span>
        <span>
          added <When at={text.addedAt} />
        </span>
        {text.side !== null && <span>{text.side === 'test' ? 'held out for testing' : 'for training'}</span>}
      </p>
      {text.parts.length > 0 && <Parts text={text} onClose={onClose} />}
      {entered.words !== null ? (
        <Editor text={text} words={entered.words} ask={ask} onWords={(words) => onEnter({ words })} />
      ) : (
        <>
          <div className={classes.actions}>
            <Button variant="default" disabled={text.more > 0} onClick={() => onEnter({ words: text.text })}>
              Edit
            </Button>
            <Button variant="default" onClick={() => onSplit(text.title)}>
              Split …
            </Button>
            <Button variant="default" onClick={onRemove}>
              Delete …
            </Button>
            {text.more > 0 && <span className="soft">Too long to edit here: split it first.</span>}
          </div>
          <div className={`own-direction ${classes.prose}`}>{text.text}</div>
          {text.more > 0 && (
            <p className="soft">{counted(text.more, 'more character is', 'more characters are')} not shown.</p>
          )}
        </>
      )}
    </article>
  );
}

/** What a text was merged from, and the way back. */
function Parts({ text, onClose }: { readonly text: WholeText; readonly onClose: TextReaderProps['onClose'] }) {
  const undo = useUndoJoin(onClose);
  return (
    <section className={classes.parts} aria-label="Merged from">
      <p>Merged from {text.parts.map(({ title, words }) => `${title} (${number(words)})`).join(', ')}.</p>
      <Button variant="default" loading={undo.isPending} onClick={() => undo.mutate(text.id)}>
        Undo the merge
      </Button>
      <span className="soft">Brings them back as they were; edits to this text are lost.</span>
      {undo.error !== null && <Failed what="The merge was not undone" error={undo.error} />}
    </section>
  );
}

/** Undoes a merge and says what came back. */
function useUndoJoin(onDone: (told: string) => void) {
  return useMutation({
    mutationFn: (id: number) => client.texts.undoJoin({ id }),
    onSuccess: ({ restored, known }) => {
      const there = known.length === 0 ? '' : ` ${known.join(', ')}: another text has the same words by now.`;
      onDone(`Merge undone: ${counted(restored, 'text is', 'texts are')} back.${there}`);
    },
  });
}

interface EditorProps {
  readonly text: WholeText;
  readonly words: string;
  readonly ask: DiscardQuestion['ask'];
  /** null ends the editing. */
  readonly onWords: (words: string | null) => void;
}

function Editor({ text, words, ask, onWords }: EditorProps) {
  const end = (): void => onWords(null);
  const edit = useMutation(api.texts.edit.mutationOptions({ onSuccess: end }));
  return (
    <SubmitForm onSubmit={() => edit.mutate({ id: text.id, text: words, from: text.hash })}>
      <Textarea
        data-autofocus
        label="Words"
        autosize
        minRows={8}
        maxRows={24}
        dir="auto"
        value={words}
        onChange={({ currentTarget }) => onWords(currentTarget.value)}
      />
      {edit.error !== null && <Failed what="The text was not saved" error={edit.error} />}
      <div className={classes.actions}>
        <Button type="submit" loading={edit.isPending} disabled={words === text.text}>
          Save
        </Button>
        <Button variant="default" onClick={() => (words === text.text ? end() : ask(end))}>
          Cancel
        </Button>
        <span className="soft">Datasets that were made from it keep its earlier words.</span>
      </div>
    </SubmitForm>
  );
}
