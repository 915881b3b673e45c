/** One text: read, rename, delete. */
import { Button, Drawer, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { WholeText } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { When } from '../components/When.tsx';
import { StageTicks } from './StageTicks.tsx';
import classes from './TextReader.module.css';

export interface TextReaderProps {
  readonly id: number;
  readonly onClose: () => void;
  readonly onRemove: () => void;
}

export function TextReader({ id, onClose, onRemove }: TextReaderProps) {
  const { data, error } = useQuery(api.texts.get.queryOptions({ input: { id } }));
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={620}
      title="Text"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error !== null && <Failed error={error} />}
      {data === undefined ? (
        error === null && <Loading what="the text" />
      ) : (
        <Reading key={data.title} text={data} onRemove={onRemove} />
      )}
    </Drawer>
  );
}

function Reading({ text, onRemove }: { readonly text: WholeText; readonly onRemove: () => void }) {
  const [title, setTitle] = useState(text.title);
  const rename = useMutation(api.texts.rename.mutationOptions());
  return (
    <article className={classes.reader}>
      <form
        className={classes.rename}
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate({ id: text.id, title });
        }}
      >
        <TextInput
          label="Title"
          value={title}
          maxLength={120}
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          loading={rename.isPending}
          disabled={title.trim() === '' || title === text.title}
        >
          Rename
        </Button>
        <Button variant="default" onClick={onRemove}>
          Delete …
        </Button>
      </form>
      {rename.error !== null && <Failed error={rename.error} />}
      <p className={`${classes.facts} soft num`}>
        <span>{number(text.words)} words</span>
        <StageTicks words={text.words} />
        <span>from {text.source}</span>
        <span>
          added <When at={text.addedAt} />
        </span>
      </p>
      <div className={`own-direction ${classes.prose}`}>{text.text}</div>
      {text.more > 0 && <p className="soft">{number(text.more)} more characters are not shown.</p>}
    </article>
  );
}
