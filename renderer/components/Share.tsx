/** Saves a result as one HTML file, for people who don't have Braid. */
import { Button, Menu } from '@mantine/core';
import { IconShare2 } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type Client, client } from '../api/client.ts';
import { Failed } from './Feedback.tsx';
import { LazyMenu } from './LazyMenu.tsx';
import { saveFile } from './save-file.ts';

export interface ShareProps {
  readonly subject: Parameters<Client['reports']['make']>[0]['subject'];
  /** Whether it has prompts and completions, which can be left out. */
  readonly hasTexts: boolean;
  readonly disabled?: boolean;
}

export function Share({ subject, hasTexts, disabled = false }: ShareProps) {
  const save = useMutation({
    mutationFn: async (texts: boolean) => {
      const { name, html } = await client.reports.make({ subject, texts });
      saveFile(name, new Blob([html], { type: 'text/html' }));
    },
  });
  return (
    <>
      {save.error !== null && <Failed what="The report was not made" error={save.error} />}
      <LazyMenu
        trigger={
          <Button
            variant="default"
            disabled={disabled}
            loading={save.isPending}
            leftSection={<IconShare2 size={14} aria-hidden="true" />}
          >
            Share
          </Button>
        }
      >
        {() => (
          <>
            <Menu.Label>One HTML file, which opens without Braid</Menu.Label>
            <Menu.Item onClick={() => save.mutate(true)}>{hasTexts ? 'With all texts' : 'Save'}</Menu.Item>
            {hasTexts && (
              <Menu.Item onClick={() => save.mutate(false)}>Without prompts, completions and notes</Menu.Item>
            )}
          </>
        )}
      </LazyMenu>
    </>
  );
}
