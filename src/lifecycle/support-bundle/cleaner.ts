import type { SecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/printable.ts'

/** Maximum length in characters. Of a longer text only the end is kept, which is the newest part. */
const maxLength = 4 << 20

/** Removes secrets and control characters from collected texts. */
export interface Cleaner {
  text(text: string): string
  /** Cleans a document and formats it as JSON. */
  json(document: unknown): string
  /** Cleans a text of JSON lines, each line separately. A line that is not JSON is cleaned as text. */
  lines(text: string): string
}

export function createCleaner(mask: SecretMask): Cleaner {
  const text = (input: string): string => toPrintable(keepEnd(mask.text(input)))
  const cleanLine = (line: string): string => {
    try {
      return JSON.stringify(mask.data(JSON.parse(line)))
    } catch {
      return text(line)
    }
  }
  return {
    text,
    json: (document) => `${JSON.stringify(mask.data(document), undefined, 2)}\n`,
    lines: (input) => keepEnd(input.split('\n').map(cleanLine).join('\n')),
  }
}

function keepEnd(text: string): string {
  if (text.length <= maxLength) return text
  return `… ${text.length - maxLength} characters before this are left out\n${text.slice(-maxLength)}`
}
