/** A button that opens the browser's file dialog for one file. */
import { Button } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { type ReactNode, useRef } from 'react';

export interface ChooseFileProps {
  /** Accessible name of the file input. */
  readonly label: string;
  /** File extensions, as in the accept attribute: `.yaml,.yml`. */
  readonly accept: string;
  readonly loading: boolean;
  readonly onChoose: (file: File) => void;
  readonly children: ReactNode;
}

export function ChooseFile({ label, accept, loading, onChoose, children }: ChooseFileProps) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconFileImport size={14} aria-hidden="true" />}
        loading={loading}
        onClick={() => chooser.current?.click()}
      >
        {children}
      </Button>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label={label}
        accept={accept}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) onChoose(file);
          // Allows choosing the same file again.
          currentTarget.value = '';
        }}
      />
    </>
  );
}
