import { duration } from '../src/kit/duration.ts'

/** Where the lab says what it does while it does it: standard error, one line a step. */
export interface Report {
  line(text: string): void
  /** Runs a step and says how long it took; what is going on inside shows while it runs. */
  step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T>
}

const quietSpell = 60_000

export function terminalReport(stream: NodeJS.WriteStream = process.stderr): Report {
  const live = stream.isTTY && process.env['CI'] === undefined
  const line = (text: string): void => void stream.write(`${text}\n`)
  return {
    line,
    async step(title, work) {
      const started = Date.now()
      const elapsed = (): string => duration(Date.now() - started)
      let noted = ''
      const show = (): void => {
        if (live)
          stream.write(`\r\u001B[2K${`… ${title} ${elapsed()} ${noted}`.slice(0, stream.columns - 1)}`)
        else line(`… ${title}: ${elapsed()} ${noted}`.trimEnd())
      }
      const timer = setInterval(show, live ? 250 : quietSpell)
      try {
        const result = await work((text) => (noted = text))
        if (live) stream.write('\r\u001B[2K')
        line(`✓ ${title}  ${elapsed()}`)
        return result
      } catch (error) {
        if (live) stream.write('\r\u001B[2K')
        line(`✗ ${title}  ${elapsed()}`)
        throw error
      } finally {
        clearInterval(timer)
      }
    },
  }
}

/** For tests, which have their own way to show what went wrong. */
export const silentReport: Report = {
  line: () => undefined,
  step: async (_title, work) => work(() => undefined),
}
