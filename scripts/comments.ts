import { join } from 'node:path'
import { readSourceText, type SourceText } from './source-text.ts'
import { readRepository } from './words.ts'

/**
 * Creates a generator of random numbers from 0 up to 1. The same seed gives the same numbers (mulberry32).
 */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws `count` different items at random. */
export function drawSample<T>(items: readonly T[], count: number, random: () => number): T[] {
  const left = [...items]
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat()
}

/** Joins comments on consecutive lines, because a reader sees them as one comment. */
export function joinLines(comments: readonly SourceText[]): SourceText[] {
  return comments.reduce<SourceText[]>((joined, comment) => {
    const last = joined.at(-1)
    if (last === undefined || last.line + last.text.split('\n').length !== comment.line) {
      return [...joined, comment]
    }
    return [...joined.slice(0, -1), { ...last, text: `${last.text}\n${comment.text}` }]
  }, [])
}

/** Prints a random sample of comments, each with the code below it, for a reader who did not write them. */
if (import.meta.main) {
  const [seed = Math.floor(Math.random() * 2 ** 32), count = 200] = process.argv.slice(2).map(Number)
  const { modules } = readRepository(join(import.meta.dirname, '..'))
  const comments = [...modules].flatMap(([file, source]) =>
    joinLines(readSourceText(file, source).filter(({ kind }) => kind === 'comment'))
      .filter(({ text }) => /[a-z] [a-z]/.test(text))
      .map(({ text, line }) => ({ file, line, text, source })),
  )
  const sample = drawSample(comments, count, createRandom(seed))
  process.stdout.write(`seed ${seed}: ${sample.length} of ${comments.length} comments\n`)
  for (const { file, line, source, text } of sample) {
    const shown = source.split('\n').slice(line - 1, line + text.split('\n').length + 2)
    process.stdout.write(`\n${file}:${line}\n${shown.map((one) => `    ${one}\n`).join('')}`)
  }
}
