import type { SecretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'

/** In characters: of what is longer the end is kept, which tells of the latest. */
const longest = 4 << 20

/** Makes what others have written fit to be given away. */
export interface Clean {
  text(text: string): string
  /** A document, as JSON. */
  json(document: unknown): string
  /** Lines of JSON, each by itself; what is none is text. */
  lines(text: string): string
}

export function cleaner(mask: SecretMask): Clean {
  const text = (given: string): string => printable(shortened(mask.text(given)))
  const compact = (line: string): string => {
    try {
      return JSON.stringify(mask.data(JSON.parse(line)))
    } catch {
      return text(line)
    }
  }
  return {
    text,
    json: (document) => `${JSON.stringify(mask.data(document), undefined, 2)}\n`,
    lines: (given) => shortened(given.split('\n').map(compact).join('\n')),
  }
}

function shortened(text: string): string {
  if (text.length <= longest) return text
  return `… ${text.length - longest} characters before this are left out\n${text.slice(-longest)}`
}
