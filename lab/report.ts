import { formatDuration } from '../src/kit/time-format.ts'

/** Progress output of the lab on standard error, one line per step. */
export interface Report {
  line(text: string): void
  /** Runs a step and prints its duration; notes of the step are shown while it runs. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>
}

const lineIntervalMs = 60_000

export function terminalReport(stream: NodeJS.WriteStream = process.stderr): Report {
  const isTerminal = stream.isTTY && process.env['CI'] === undefined
  const line = (text: string): void => void stream.write(`${text}\n`)
  return {
    line,
    async step(title, work) {
      const started = Date.now()
      const elapsed = (): string => formatDuration(Date.now() - started)
      let lastNote = ''
      const show = (): void => {
        if (isTerminal)
          stream.write(`\r\u001B[2K${`… ${title} ${elapsed()} ${lastNote}`.slice(0, stream.columns - 1)}`)
        else line(`… ${title}: ${elapsed()} ${lastNote}`.trimEnd())
      }
      const timer = setInterval(show, isTerminal ? 250 : lineIntervalMs)
      try {
        const result = await work((text) => (lastNote = text))
        if (isTerminal) stream.write('\r\u001B[2K')
        line(`✓ ${title}  ${elapsed()}`)
        return result
      } catch (error) {
        if (isTerminal) stream.write('\r\u001B[2K')
        line(`✗ ${title}  ${elapsed()}`)
        throw error
      } finally {
        clearInterval(timer)
      }
    },
  }
}

/** A report without output, for tests. */
export const silentReport: Report = {
  line: () => undefined,
  step: async (_title, work) => work(() => undefined),
}
