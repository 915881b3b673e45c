import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../main/commands/index.ts';
import { partIn } from '../../scripts/generated-part.ts';
import { COMMANDS, commandsFile, commandsList } from './commands-table.ts';

describe('docs/commands.md', () => {
  it('lists every command as its help has it', async () => {
    const list = await commandsList();
    const document = readFileSync(commandsFile, 'utf8');
    expect(partIn(document, COMMANDS), 'regenerate it: node tests/docs/commands-table.ts').toBe(list);
    for (const { name } of commands) expect(list).toContain(`- \`${name}`);
  });
});
