/**
 * Makes untrusted text safe for a terminal, where a file or host could otherwise repaint the screen or
 * disguise a word. Control characters (except line ends) and bidirectional overrides become escape codes.
 */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

const unprintable =
  // oxlint-disable-next-line no-control-regex -- these are the very characters to find
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
