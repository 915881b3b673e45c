/** The prompt for a post. Version 1; a record with its own prompt keeps it. */

const POST = '{post}';
const TEMPLATE = `Write a short reply to this post.\nPost: ${POST}\nReply:`;

/** The prompt of a post, inserted once and verbatim. */
export function replyPrompt(post: string, template = TEMPLATE): string {
  return template.replace(POST, () => post);
}

/** Whether a template has a place for the post. */
export function hasPost(template: string): boolean {
  return template.includes(POST);
}
