import type { Event } from '../../contract/event.ts'
import type { Output, Paint, Screen } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { erase, type Frame, noFrame, redraw } from './frame.ts'
import { type StyledLine, paintLine, measureLine } from './line.ts'
import type { ProgressRenderer } from './progress.ts'
import { reduceEvents } from './reduce-events.ts'
import { isSectionOver, initialRunState, type RunState } from './run-state.ts'
import { frameIntervalMs } from './step-row.ts'
import { formatEndSummary, formatStepsSummary } from './summary.ts'
import { layoutTree } from './tree-layout.ts'

export interface TreeOptions {
  readonly output: Output
  readonly screen: Screen
  readonly paint: Paint
  readonly repeat: (milliseconds: number, callback: () => void) => () => void
  readonly now: () => Date
}

/**
 * Shows a run as a tree that is redrawn ten times a second. A group of steps that has ended becomes permanent
 * text.
 */
export function createTreeProgress({ output, screen, paint, repeat, now }: TreeOptions): ProgressRenderer {
  let state: RunState = initialRunState
  let pending: Event[] = []
  let shown: Frame = noFrame
  let findings = 0
  /** Stops the redrawing; undefined if the tree is not being redrawn. */
  let stop: (() => void) | undefined

  const draw = (): void => {
    applyPending()
    const { columns } = screen.size()
    const next = buildFrame(layoutTree(state, now().getTime(), screen.size()), paint)
    output.write(redraw(shown, next, columns))
    shown = next
  }
  const clear = (): void => {
    const text = erase(shown, screen.size().columns)
    if (text !== '') output.write(text)
    shown = noFrame
  }
  const applyPending = (): void => {
    state = reduceEvents(state, pending)
    pending = []
    if (state.findings.length === findings) return
    clear()
    output.write(formatFindings(state.findings.slice(findings)))
    findings = state.findings.length
  }
  const endSection = (): void => {
    if (stop === undefined) return
    stop()
    stop = undefined
    clear()
    output.write(formatStepsSummary(state, screen.size().columns, paint))
  }
  const handleSectionEvent = ({ body }: Event): void => {
    if (body.type === 'steps-planned') endSection()
    applyPending()
    if (body.type === 'steps-planned' && state.steps.length > 0) {
      stop = repeat(frameIntervalMs, draw)
      draw()
    }
    if (!isSectionOver(state)) return
    const hasCountedSteps = stop !== undefined && state.steps.some(({ isCounted }) => isCounted)
    endSection()
    if (hasCountedSteps || (body.type === 'run-ended' && body.result.outcome !== 'done')) {
      output.write(formatEndSummary(state, paint))
    }
  }
  return {
    onEvent(event) {
      pending.push(event)
      if (isSectionEvent(event)) handleSectionEvent(event)
    },
    print(text) {
      applyPending()
      clear()
      output.write(text)
    },
    close() {
      applyPending()
      endSection()
    },
  }
}

/** True for events after which the screen is updated at once, because other output may follow. */
function isSectionEvent({ body, host }: Event): boolean {
  return (
    body.type === 'steps-planned' ||
    body.type === 'run-ended' ||
    (body.type === 'step-ended' && host === undefined)
  )
}

function buildFrame(lines: readonly StyledLine[], paint: Paint): Frame {
  return { lines: lines.map((line) => paintLine(line, paint)), widths: lines.map(measureLine) }
}
