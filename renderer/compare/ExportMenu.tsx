/** Exports a comparison: numbers and completions as data, figures for papers. */
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { saveFile, svgToPng } from '../components/save-file.ts';

type Format = 'csv' | 'json' | 'markdown';

export function ExportMenu({ id, disabled }: { readonly id: number; readonly disabled: boolean }) {
  const file = useMutation({
    mutationFn: async (format: Format) => {
      const { name, type, text } = await client.comparisons.export({ id, format });
      saveFile(name, new Blob([text], { type }));
    },
  });
  const copy = useMutation({
    mutationFn: async () => {
      const { text } = await client.comparisons.export({ id, format: 'markdown' });
      await navigator.clipboard.writeText(text);
    },
  });
  const figures = useMutation({
    mutationFn: async (kind: 'svg' | 'png') => {
      for (const { name, svg } of await client.comparisons.figures({ id })) {
        const content = kind === 'png' ? await svgToPng(svg) : new Blob([svg], { type: 'image/svg+xml' });
        saveFile(`comparison-${id}-${name}.${kind}`, content);
      }
    },
  });
  const error = file.error ?? copy.error ?? figures.error;
  return (
    <>
      {error !== null && <Failed what="The export failed" error={error} />}
      <Menu
        position="bottom-end"
        // Clears the result of the last export.
        onOpen={() => {
          for (const past of [file, copy, figures]) past.reset();
        }}
      >
        <Menu.Target>
          <Button
            variant="default"
            disabled={disabled}
            loading={file.isPending || copy.isPending || figures.isPending}
            leftSection={<IconDownload size={14} aria-hidden="true" />}
          >
            {copy.isSuccess ? 'Copied' : 'Export'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Numbers and completions</Menu.Label>
          <Menu.Item onClick={() => file.mutate('csv')}>CSV</Menu.Item>
          <Menu.Item onClick={() => file.mutate('json')}>JSON</Menu.Item>
          <Menu.Item onClick={() => file.mutate('markdown')}>Markdown</Menu.Item>
          <Menu.Item onClick={() => copy.mutate()}>Copy as Markdown</Menu.Item>
          <Menu.Label>Figures</Menu.Label>
          <Menu.Item onClick={() => figures.mutate('svg')}>SVG</Menu.Item>
          <Menu.Item onClick={() => figures.mutate('png')}>PNG</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
