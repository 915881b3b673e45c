/** Exports the completions shown. Large exports arrive in parts, show progress and can be stopped. */
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { SampleFilter, SampleOrder } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { LazyMenu } from '../components/LazyMenu.tsx';
import { saveFile } from '../components/save-file.ts';

export interface ExportMenuProps {
  readonly filter: SampleFilter;
  readonly order: SampleOrder;
  /** File name without extension. */
  readonly name: string;
  readonly disabled?: boolean;
}

const types = { jsonl: 'application/jsonl', csv: 'text/csv' } as const;

export function ExportMenu({ filter, order, name, disabled = false }: ExportMenuProps) {
  const [done, setDone] = useState('');
  const controller = useRef<AbortController | null>(null);
  const file = useMutation({
    mutationFn: async (format: keyof typeof types) => {
      const started = new AbortController();
      controller.current = started;
      const { signal } = started;
      const parts: string[] = [];
      for await (const part of await client.samples.export({ filter, order, format }, { signal })) {
        if (signal.aborted) return;
        parts.push(part.text);
        setDone(`${part.done} of ${part.total}`);
      }
      saveFile(`${name}.${format}`, new Blob(parts, { type: types[format] }));
    },
  });
  const stopped = controller.current?.signal.aborted ?? false;
  if (file.isPending && !stopped)
    return (
      <Button variant="default" onClick={() => controller.current?.abort()}>
        Stop export{done !== '' && ` (${done})`}
      </Button>
    );
  return (
    <>
      {file.error !== null && !stopped && <Failed what="The export failed" error={file.error} />}
      <LazyMenu
        trigger={
          <Button variant="default" disabled={disabled} leftSection={<IconDownload size={14} aria-hidden="true" />}>
            Export
          </Button>
        }
      >
        {() => (
          <>
            <Menu.Label>Shown completions, with full texts</Menu.Label>
            <Menu.Item onClick={() => file.mutate('jsonl')}>JSONL</Menu.Item>
            <Menu.Item onClick={() => file.mutate('csv')}>CSV</Menu.Item>
          </>
        )}
      </LazyMenu>
    </>
  );
}
