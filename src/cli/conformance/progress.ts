import { countResults, type SuiteProgress } from '../../conformance/progress.ts'
import type { SuiteEvent, TestOutcome, TestResult } from '../../conformance/ginkgo-output.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { toPrintable } from '../../kit/text.ts'
import type { CommandContext, Paint } from '../command/command.ts'
import { fitLine, gap, type StyledLine, span } from '../render/line.ts'
import { createLiveLines } from '../render/live-lines.ts'

/** Shows the progress of the suite. */
export interface ConformanceProgress {
  readonly onEvent: (event: SuiteEvent, suiteProgress: SuiteProgress) => void
  /** Writes a line between progress lines. */
  readonly writeLine: (line: string) => void
  readonly close: () => void
}

type ConformanceProgressDeps = Pick<CommandContext, 'stderr' | 'screen' | 'paintProgress' | 'repeat' | 'now'>

const colours = { passed: 'green', failed: 'red', skipped: 'dim', interrupted: 'yellow' } as const

const frameIntervalMs = 250
/** Without a terminal, a line is written at least at this interval. */
const maxSilenceMs = 60_000

/** Redraws two lines on a terminal; otherwise writes a line for each test. */
export function openConformanceProgress(deps: ConformanceProgressDeps): ConformanceProgress {
  return deps.screen === undefined
    ? createLineProgress(deps)
    : createTerminalProgress({ ...deps, screen: deps.screen })
}

function createLineProgress({
  stderr,
  paintProgress,
  repeat,
  now,
}: ConformanceProgressDeps): ConformanceProgress {
  let suiteProgress: SuiteProgress | undefined
  const writeLine = (line: string): void => void stderr.write(`${toPrintable(line)}\n`)
  const stop = repeat(maxSilenceMs, () => {
    for (const { test, since } of suiteProgress?.running ?? []) {
      const elapsed = now().getTime() - since.getTime()
      if (suiteProgress !== undefined && elapsed >= maxSilenceMs)
        writeLine(`${formatElapsed(suiteProgress, now())} runs for ${formatDuration(elapsed)}: ${test}`)
    }
  })
  return {
    onEvent(event, next) {
      suiteProgress = next
      if (event.type !== 'ended') return
      const done = `${next.results.length}/${next.chosen.length}`
      stderr.write(`${formatElapsed(next, now())} ${done} ${formatTestResult(event.result, paintProgress)}\n`)
    },
    writeLine,
    close: stop,
  }
}

function createTerminalProgress({
  stderr,
  screen,
  paintProgress,
  repeat,
  now,
}: ConformanceProgressDeps & {
  readonly screen: NonNullable<CommandContext['screen']>
}): ConformanceProgress {
  let suiteProgress: SuiteProgress | undefined
  const { draw, write } = createLiveLines({ stderr, screen, paintProgress })
  const stop = repeat(frameIntervalMs, () => {
    if (suiteProgress !== undefined) draw(renderSuiteProgress(suiteProgress, now(), screen.size().columns))
  })
  return {
    onEvent(event, next) {
      suiteProgress = next
      // Passed tests are only counted; other results get a permanent line.
      const isShown = event.type === 'ended' && event.result.outcome !== 'passed'
      if (isShown) write(`${formatTestResult(event.result, paintProgress)}\n`)
    },
    writeLine: (line) => write(`${toPrintable(line)}\n`),
    close() {
      stop()
      write('')
    },
  }
}

/** Renders the totals, and the running tests with their durations. */
export function renderSuiteProgress(suiteProgress: SuiteProgress, now: Date, columns: number): StyledLine[] {
  const { chosen, results, running, began } = suiteProgress
  const formatOutcomeCount = (outcome: TestOutcome): readonly StyledLine[number][] => {
    const count = countResults(suiteProgress, outcome)
    return count === 0 && outcome !== 'passed'
      ? []
      : [span(' · '), span(`${count} ${outcome}`, colours[outcome])]
  }
  const total: StyledLine = [
    span(`${results.length} of ${chosen.length} tests`, 'bold'),
    ...formatOutcomeCount('passed'),
    ...formatOutcomeCount('failed'),
    ...formatOutcomeCount('skipped'),
    ...formatOutcomeCount('interrupted'),
    span(` · ${formatDuration(now.getTime() - began.getTime())}`, 'dim'),
  ]
  return [
    fitLine(total, columns),
    ...running.map(({ test, since }) => {
      const elapsed = formatDuration(now.getTime() - since.getTime())
      return fitLine([gap(2), span(`${elapsed} `, 'dim'), span(test)], columns)
    }),
  ]
}

function formatTestResult({ name, outcome, seconds }: TestResult, paint: Paint): string {
  return `${paint(colours[outcome], outcome)} ${toPrintable(name)} (${formatDuration(seconds * 1000)})`
}

/** Formats the time since the start as 00:07, 12:40 or 1:02:03. */
function formatElapsed({ began }: SuiteProgress, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - began.getTime()) / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const text = [minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return hours === 0 ? text : `${hours}:${text}`
}
