import { countOf, type Course } from '../../conformance/progress.ts'
import type { SuiteEvent, TestOutcome, TestResult } from '../../conformance/ginkgo-output.ts'
import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import type { Context, Paint } from '../command.ts'
import { fit, gap, type Line, span } from '../render/line.ts'
import { movingLines } from '../render/live-lines.ts'

/** Shows how far the suite is, to whoever looks. */
export interface ConformanceProgress {
  readonly heard: (event: SuiteEvent, course: Course) => void
  /** A line for a person, between what is shown. */
  readonly say: (line: string) => void
  readonly close: () => void
}

type World = Pick<Context, 'stderr' | 'screen' | 'paintProgress' | 'every' | 'now'>

const colours = { passed: 'green', failed: 'red', skipped: 'dim', interrupted: 'yellow' } as const

/** Between two drawings, in milliseconds. */
const frameTime = 250
/** So long without a word is too long for whoever reads a log, in milliseconds. */
const silence = 60_000

/** Two lines that move where there is a terminal to move on, and a line for each test elsewhere. */
export function openConformanceProgress(world: World): ConformanceProgress {
  return world.screen === undefined ? lines(world) : frame({ ...world, screen: world.screen })
}

function lines({ stderr, paintProgress, every, now }: World): ConformanceProgress {
  let course: Course | undefined
  const say = (line: string): void => void stderr.write(`${printable(line)}\n`)
  const stop = every(silence, () => {
    for (const { test, since } of course?.running ?? []) {
      const long = now().getTime() - since.getTime()
      if (course !== undefined && long >= silence)
        say(`${clock(course, now())} runs for ${duration(long)}: ${test}`)
    }
  })
  return {
    heard(event, next) {
      course = next
      if (event.type !== 'ended') return
      const done = `${next.results.length}/${next.chosen.length}`
      stderr.write(`${clock(next, now())} ${done} ${resultText(event.result, paintProgress)}\n`)
    },
    say,
    close: stop,
  }
}

function frame({
  stderr,
  screen,
  paintProgress,
  every,
  now,
}: World & { readonly screen: NonNullable<Context['screen']> }): ConformanceProgress {
  let course: Course | undefined
  const { draw, write } = movingLines({ stderr, screen, paintProgress })
  const stop = every(frameTime, () => {
    if (course !== undefined) draw(courseView(course, now(), screen.size().columns))
  })
  return {
    heard(event, next) {
      course = next
      // What passed is counted; what did not is worth a line that stays.
      const isTold = event.type === 'ended' && event.result.outcome !== 'passed'
      if (isTold) write(`${resultText(event.result, paintProgress)}\n`)
    },
    say: (line) => write(`${printable(line)}\n`),
    close() {
      stop()
      write('')
    },
  }
}

/** How far it is, and what runs now and for how long. */
export function courseView(course: Course, now: Date, columns: number): Line[] {
  const { chosen, results, running, began } = course
  const of = (outcome: TestOutcome): readonly Line[number][] => {
    const count = countOf(course, outcome)
    return count === 0 && outcome !== 'passed'
      ? []
      : [span(' · '), span(`${count} ${outcome}`, colours[outcome])]
  }
  const total: Line = [
    span(`${results.length} of ${chosen.length} tests`, 'bold'),
    ...of('passed'),
    ...of('failed'),
    ...of('skipped'),
    ...of('interrupted'),
    span(` · ${duration(now.getTime() - began.getTime())}`, 'dim'),
  ]
  return [
    fit(total, columns),
    ...running.map(({ test, since }) => {
      const long = duration(now.getTime() - since.getTime())
      return fit([gap(2), span(`${long} `, 'dim'), span(test)], columns)
    }),
  ]
}

function resultText({ name, outcome, seconds }: TestResult, paint: Paint): string {
  return `${paint(colours[outcome], outcome)} ${printable(name)} (${duration(seconds * 1000)})`
}

/** Since it began: 00:07, 12:40, 1:02:03. */
function clock({ began }: Course, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - began.getTime()) / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const text = [minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return hours === 0 ? text : `${hours}:${text}`
}
