/** The tags of texts: typed, or chosen from those that are in use. */
import { TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../api/client.ts';
import { tagsOf } from './tags.ts';

export interface TagsFieldProps {
  readonly label: string;
  readonly tags: readonly string[];
  readonly onChange: (tags: string[]) => void;
}

export function TagsField({ label, tags, onChange }: TagsFieldProps) {
  const { data = [] } = useQuery(api.texts.list.queryOptions({ input: {} }));
  const known = useMemo(() => tagsOf(data), [data]);
  return (
    <TagsInput
      label={label}
      placeholder={tags.length === 0 ? 'Add a tag' : ''}
      data={known}
      maxTags={20}
      maxLength={40}
      value={[...tags]}
      onChange={onChange}
    />
  );
}
