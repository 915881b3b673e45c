/** Which lines of stderr are a library's log, and say nothing about why a process ended. */

/** Each matches a whole line. */
const LOG_LINES: readonly RegExp[] = [
  // TensorFlow and absl: "2026-11-22 10:15:03.123456: I tensorflow/...", "I0000 00:00:1795.46 27076 port.cc:153] ..."
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IW] /,
  /^[IW]\d{4} \d\d:\d\d:[\d.]+ +\d+ \S+:\d+\] /,
  /^WARNING: All log messages before absl::InitializeLog\(\)/,
  /^To enable the following instructions: /,
  // TensorFlow.js: "=====", "Hi, looks like you are running TensorFlow.js in Node.js. ..."
  /^=+$/,
  /^Hi, looks like you are running TensorFlow\.js/,
  // Dawn and the Vulkan loader, which try drivers that are not there.
  /^error: XDG_RUNTIME_DIR is invalid or not set/,
  /^Warning: Vulkan /,
  /^ - While initializing adapter \(/,
  /^ {4}at \S+ \(\S+\.(?:cpp|h):\d+\)$/,
  // Node.
  /^\(node:\d+\) (?:\[\S+\] )?\w*Warning: /,
  /^\(Use `\S+ --trace-\w+ \.\.\.` to show where the warning was created\)$/,
];

/** The text without such lines and without empty ones. */
export function withoutLibraryLog(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !LOG_LINES.some((pattern) => pattern.test(line)))
    .join('\n');
}
