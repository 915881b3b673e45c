/** Whether a process of this machine, or of this container, exists. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
