import { formatDuration } from '../../kit/time-format.ts'
import { gap, type AlignedRow, type StyledSpan, span } from './line.ts'
import type { StepState } from './step-state.ts'

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** Milliseconds between two frames. */
export const frameIntervalMs = 100

/** Builds the row of a step. Counted steps show their number. */
export function buildStepRow(step: StepState, steps: number, now: number): AlignedRow {
  const title = step.isCounted ? `${step.number}. ${step.title}` : step.title
  const padding = step.isCounted ? String(steps).length - String(step.number).length : 0
  return {
    left: [
      buildMark(step, now),
      gap(1 + padding),
      span(title, step.status === 'pending' ? 'dim' : undefined),
    ],
    right: formatStepTime(step, now),
  }
}

function buildMark({ status }: StepState, now: number): StyledSpan {
  switch (status) {
    case 'done':
      return span('✓', 'green')
    case 'failed':
      return span('✗', 'red')
    case 'interrupted':
      return span('■', 'yellow')
    case 'running':
      return span(spinner[Math.floor(Math.max(0, now) / frameIntervalMs) % spinner.length] ?? '', 'cyan')
    default:
      return span('·', 'dim')
  }
}

function formatStepTime({ startedAt, endedAt }: StepState, now: number): string {
  if (startedAt === undefined) return ''
  return endedAt === undefined
    ? formatElapsed(now - startedAt)
    : formatDuration(Math.max(0, endedAt - startedAt))
}

/** Formats the elapsed time in whole seconds, because tenths would flicker. */
export function formatElapsed(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000)
}
