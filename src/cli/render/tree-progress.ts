import type { Event } from '../../contract/event.ts'
import type { Output, Paint, Screen } from '../command.ts'
import { findingsText } from '../print.ts'
import { erase, type Frame, noFrame, redraw } from './frame.ts'
import { type Line, painted, widthOf } from './line.ts'
import type { Progress } from './progress.ts'
import { reduce } from './reduce-events.ts'
import { isSectionOver, nothingYet, type RunState } from './run-state.ts'
import { frameTime } from './step-row.ts'
import { endSummary, stepsSummary } from './summary.ts'
import { view } from './tree-layout.ts'

export interface TreeOptions {
  readonly output: Output
  readonly screen: Screen
  readonly paint: Paint
  readonly every: (milliseconds: number, act: () => void) => () => void
  readonly now: () => Date
}

/** Shows a run as a tree that moves. Ten times a second it is drawn in its place; what is over stays as text. */
export function treeProgress({ output, screen, paint, every, now }: TreeOptions): Progress {
  let state: RunState = nothingYet
  let waiting: Event[] = []
  let shown: Frame = noFrame
  let findings = 0
  /** Ends the drawing of a section; undefined while nothing moves. */
  let stop: (() => void) | undefined

  const draw = (): void => {
    takeIn()
    const { columns } = screen.size()
    const next = frameOf(view(state, now().getTime(), screen.size()), paint)
    output.write(redraw(shown, next, columns))
    shown = next
  }
  const clear = (): void => {
    const text = erase(shown, screen.size().columns)
    if (text !== '') output.write(text)
    shown = noFrame
  }
  const takeIn = (): void => {
    state = reduce(state, waiting)
    waiting = []
    if (state.findings.length === findings) return
    clear()
    output.write(findingsText(state.findings.slice(findings)))
    findings = state.findings.length
  }
  const leave = (): void => {
    if (stop === undefined) return
    stop()
    stop = undefined
    clear()
    output.write(stepsSummary(state, screen.size().columns, paint))
  }
  const turn = ({ what }: Event): void => {
    if (what.type === 'steps-planned') leave()
    takeIn()
    if (what.type === 'steps-planned' && state.steps.length > 0) {
      stop = every(frameTime, draw)
      draw()
    }
    if (!isSectionOver(state)) return
    const counted = stop !== undefined && state.steps.some(({ counts }) => counts)
    leave()
    if (counted || (what.type === 'run-ended' && what.result.outcome !== 'done')) {
      output.write(endSummary(state, paint))
    }
  }
  return {
    heard(event) {
      waiting.push(event)
      if (isTurn(event)) turn(event)
    },
    say(text) {
      takeIn()
      clear()
      output.write(text)
    },
    close() {
      takeIn()
      leave()
    },
  }
}

/** After these others may write, so that the screen must be in order at once. */
function isTurn({ what, host }: Event): boolean {
  return (
    what.type === 'steps-planned' ||
    what.type === 'run-ended' ||
    (what.type === 'step-ended' && host === undefined)
  )
}

function frameOf(lines: readonly Line[], paint: Paint): Frame {
  return { lines: lines.map((line) => painted(line, paint)), widths: lines.map(widthOf) }
}
