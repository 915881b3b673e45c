import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../main/commands/index.ts';
import { partIn } from '../../scripts/generated-part.ts';
import { COMMANDS_TABLE, commandsFile, commandsTable } from './commands-table.ts';

describe('docs/commands.md', () => {
  it('lists every command as its help has it', async () => {
    const table = await commandsTable();
    const document = readFileSync(commandsFile, 'utf8');
    expect(partIn(document, COMMANDS_TABLE), 'regenerate it: node tests/docs/commands-table.ts').toBe(table);
    for (const { name } of commands) expect(table).toContain(`| \`${name}`);
  });
});
