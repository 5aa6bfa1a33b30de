/** What the log of one pod of the StatefulSet shows. */
export interface StoreLog {
  readonly lines: number
  /** Problems of the data: numbers that are missing or that occur twice, and lines that cannot be read. */
  readonly problems: readonly string[]
  /** Longest time between two lines, in seconds. The pod writes one line every second. */
  readonly longestGapSeconds: number
}

/** Reads a log of lines with a number and a time in seconds. */
export function parseStoreLog(text: string): StoreLog {
  const lines = text.split('\n').filter((line) => line !== '')
  const problems: string[] = []
  let longestGapSeconds = 0
  let previousTime: number | undefined
  for (const [index, line] of lines.entries()) {
    const [, number, time] = /^(\d+) (\d+)$/.exec(line) ?? []
    if (number === undefined || Number(number) !== index + 1) {
      problems.push(`line ${index + 1} is "${line}"`)
      continue
    }
    if (previousTime !== undefined)
      longestGapSeconds = Math.max(longestGapSeconds, Number(time) - previousTime)
    previousTime = Number(time)
  }
  return { lines: lines.length, problems: problems.slice(0, 5), longestGapSeconds }
}

/** Returns the lines of a log since an earlier time, as a log of their own would show them. */
export function measureGapSince(text: string, lineCount: number): number {
  const lines = text.split('\n').filter((line) => line !== '')
  const recent = lines
    .slice(Math.max(0, lineCount - 1))
    .map((line, index) => `${index + 1} ${line.split(' ')[1]}`)
  return parseStoreLog(recent.join('\n')).longestGapSeconds
}
