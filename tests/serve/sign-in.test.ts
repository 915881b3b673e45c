import { describe, expect, it } from 'vitest';
import { signInPage } from '../../main/serve/sign-in.ts';

describe('signInPage', () => {
  it('says that Braid was restarted, what is safe, and where the new address is', () => {
    const page = signInPage('The token is from an earlier start');
    expect(page).toContain('Braid was restarted');
    expect(page).toContain('are safe');
    expect(page).toMatch(/address that <code>braid serve<\/code> printed/);
    expect(page).toContain('The token is from an earlier start.');
  });
});
