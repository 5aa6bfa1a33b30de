/**
 * Text from outside, fit for a terminal: line ends stay, other control characters and those that turn the direction of
 * writing are shown by their code. A file or a host could otherwise repaint the screen, or make one word look like another.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

const unprintable =
  // oxlint-disable-next-line no-control-regex -- these are the very characters to find
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
