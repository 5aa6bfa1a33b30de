import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Longest sentence, in words, that a reader understands at once. */
const maxWords = 30

/** Splits the prose of a Markdown document into sentences. Leaves out code, tables, headings and diagrams. */
export function listSentences(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/^(?:#|\||<).*$/gm, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)/)
    .flatMap((paragraph) => paragraph.replaceAll(/\s+/g, ' ').split(/(?<=[.!?:;])\s+(?=[A-Z`[*“"])/))
    .map((text) => text.trim())
    .filter((text) => /\w\s+\w/.test(text))
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /\w/.test(word)).length
}

/** True for documents that people read to use hyperkube. False for records of measurements. */
const isUserDocument = (file: string): boolean => !/^docs\/(?:evidence|node_modules)\//.test(file)

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const files = globSync('{README.md,docs/**/*.md}', { cwd: root }).filter(isUserDocument).toSorted()
  let [total, long] = [0, 0]
  for (const file of files) {
    const sentences = listSentences(readFileSync(join(root, file), 'utf8'))
    const tooLong = sentences.filter((text) => countWords(text) > maxWords)
    total += sentences.length
    long += tooLong.length
    if (process.argv.includes('--list'))
      for (const text of tooLong) process.stdout.write(`${file}: ${text}\n`)
  }
  const share = ((100 * long) / Math.max(1, total)).toFixed(1)
  process.stdout.write(
    `sentences: ${total} in ${files.length} documents, ${long} over ${maxWords} words (${share} %)\n`,
  )
}
