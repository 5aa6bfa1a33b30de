import { toPrintable } from '../../kit/text.ts'
import type { ReportBytes } from '../../snapshot/store.ts'
import type { CommandContext } from '../command/command.ts'
import { fitLine, span } from './line.ts'
import { createLiveLines } from './live-lines.ts'

export interface ByteProgress extends Disposable {
  /** Starts to show the progress of one transfer. */
  track(title: string): ReportBytes
  /** Writes a line between progress lines. */
  writeLine(line: string): void
}

type ByteProgressDeps = Pick<CommandContext, 'stderr' | 'screen' | 'paintProgress' | 'repeat'>

const frameIntervalMs = 200
/** Minimum size of a transfer that is reported as lines. Smaller transfers end too soon to need progress. */
const minReportedBytes = 20e6

/** Redraws one line on a terminal; otherwise writes a line for each completed tenth. */
export function openByteProgress(deps: ByteProgressDeps): ByteProgress {
  return deps.screen === undefined
    ? createLineProgress(deps)
    : createTerminalProgress({ ...deps, screen: deps.screen })
}

function createLineProgress({ stderr }: ByteProgressDeps): ByteProgress {
  return {
    writeLine: (line) => void stderr.write(`${toPrintable(line)}\n`),
    track(title) {
      let reportedTenths = 0
      return (done, total) => {
        const tenths = Math.floor((done / total) * 10)
        if (total < minReportedBytes || tenths <= reportedTenths) return
        reportedTenths = tenths
        stderr.write(`${formatProgress(title, done, total)}\n`)
      }
    },
    [Symbol.dispose]: () => undefined,
  }
}

function createTerminalProgress({
  stderr,
  screen,
  paintProgress,
  repeat,
}: ByteProgressDeps & { readonly screen: NonNullable<CommandContext['screen']> }): ByteProgress {
  let currentLine: string | undefined
  const { draw, write } = createLiveLines({ stderr, screen, paintProgress })
  const stop = repeat(frameIntervalMs, () => {
    if (currentLine !== undefined) draw([fitLine([span(currentLine)], screen.size().columns)])
  })
  return {
    track: (title) => (done, total) => {
      currentLine = formatProgress(title, done, total)
    },
    writeLine(line) {
      currentLine = undefined
      write(`${toPrintable(line)}\n`)
    },
    [Symbol.dispose]() {
      stop()
      write('')
    },
  }
}

function formatProgress(title: string, done: number, total: number): string {
  return `${title}: ${formatMegabytes(done)} of ${formatMegabytes(total)} MB`
}

/** Formats megabytes with one decimal, because most databases are small. */
export function formatMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
