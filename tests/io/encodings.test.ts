import { describe, expect, it } from 'vitest';
import { decodeProse } from '../../main/io/encodings.ts';
import { describeFault } from '../../main/io/text-file.ts';

const WESTERN = 'Der Fluß läuft über die Steine, “quietly”, à côté du château – 5 €.\n';

function read(bytes: Uint8Array): string {
  const result = decodeProse('f.txt', bytes);
  return result.kind === 'bad' ? describeFault(result.fault) : `${result.value.encoding}: ${result.value.text}`;
}

/** Node writes Latin-1 only; these characters are elsewhere in Windows-1252. */
function windows(text: string): Buffer {
  const own: Readonly<Record<string, number>> = { '“': 0x93, '”': 0x94, '–': 0x96, '€': 0x80 };
  return Buffer.from([...text].map((character) => own[character] ?? character.charCodeAt(0)));
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes).swap16();
}

describe('decodeProse', () => {
  it.each([
    ['UTF-8', Buffer.from(WESTERN), WESTERN],
    ['UTF-8', Buffer.from(`\ufeff${WESTERN}`), WESTERN],
    ['UTF-16', Buffer.from(`\ufeff${WESTERN}`, 'utf16le'), WESTERN],
    ['UTF-16', swapped(Buffer.from(`\ufeff${WESTERN}`, 'utf16le')), WESTERN],
    ['UTF-16', Buffer.from(WESTERN, 'utf16le'), WESTERN],
    ['UTF-16', swapped(Buffer.from(WESTERN, 'utf16le')), WESTERN],
    ['UTF-16', Buffer.from('\ufeff江は静かに流れる', 'utf16le'), '江は静かに流れる'],
    ['Windows-1252', windows(WESTERN), WESTERN],
    ['Windows-1252', Buffer.from('naïve', 'latin1'), 'naïve'],
  ])('reads %s (%#)', (encoding, bytes, text) => {
    expect(read(bytes)).toBe(`${encoding}: ${text}`);
  });

  it.each([
    // A UTF-8 file with one damaged byte: as Windows-1252 its other characters would be garbled.
    [Buffer.concat([Buffer.from('Käse und\n'), Buffer.from([0xe4, 0x20])]), 'line 2: expected UTF-8 text'],
    // "река" in Windows-1251, and Japanese in Shift-JIS.
    [Buffer.from([0xf0, 0xe5, 0xea, 0xe0, 0x20, 0xf0, 0xe5, 0xea, 0xe0]), 'expected UTF-8 text'],
    [Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0x81, 0x42]), 'expected UTF-8 text'],
    // Turkish in Windows-1254, Polish in ISO 8859-2, Czech in Windows-1250: letters that no Western language has together.
    [Buffer.from('Bütün insanlar eþit doðar, kardeþlik içinde.', 'latin1'), 'expected UTF-8 text'],
    [
      Buffer.from('Ile ciê trzeba ceniæ, ten siê dowie, kto ciê straci³ w ca³ej ozdobie', 'latin1'),
      'expected UTF-8 text',
    ],
    [Buffer.from('Byl pozdní veèer, první máj, veèerní máj, byl lásky èas.', 'latin1'), 'expected UTF-8 text'],
    // Japanese in UTF-16 without a mark: nothing tells it from other encodings.
    [Buffer.from('江は静かに流れる', 'utf16le'), 'expected UTF-8 text'],
    [Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x20, 0x00]), 'expected UTF-16 text, got invalid bytes'],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]), 'binary file'],
    [Buffer.from('a\nb\0c'), 'binary file'],
    [Buffer.from('\ufeff%PDF-1.7', 'utf16le'), 'got a PDF'],
  ])('refuses what it would only guess (%#)', (bytes, reason) => {
    expect(read(bytes)).toContain(reason);
  });
});
