/** Tags the selected texts: what all of them have can be removed, anything can be added. */
import { Button, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { TextHeading } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { TagsField } from './TagsField.tsx';
import classes from './Texts.module.css';
import { commonTags, tagChange } from './tags.ts';

export interface TagTextsProps {
  readonly texts: readonly TextHeading[];
  readonly onClose: (told?: string) => void;
}

export function TagTexts({ texts, onClose }: TagTextsProps) {
  const before = commonTags(texts);
  const [tags, setTags] = useState<readonly string[]>(before);
  const change = tagChange(before, tags);
  const isChanged = change.add.length + change.remove.length > 0;
  const { ask, question } = useDiscardQuestion({ isChanged: () => isChanged, close: onClose });
  const what = counted(texts.length, 'text');
  const save = useMutation({
    mutationFn: () => client.texts.tag({ ids: texts.map(({ id }) => id), ...change }),
    onSuccess: () => onClose(`Tags of ${what} changed.`),
  });
  return (
    <>
      <Modal opened onClose={() => ask(onClose)} title={`Tag ${what}`} closeButtonProps={{ 'aria-label': 'Close' }}>
        <TagsField label="Tags that all of them have" tags={tags} onChange={setTags} />
        {save.error !== null && <Failed what="The tags were not changed" error={save.error} />}
        <div className={classes.dialogEnd}>
          <Button variant="default" onClick={() => ask(onClose)}>
            Cancel
          </Button>
          <Button disabled={!isChanged} loading={save.isPending} onClick={() => save.mutate()}>
            Save tags
          </Button>
        </div>
      </Modal>
      {question}
    </>
  );
}
