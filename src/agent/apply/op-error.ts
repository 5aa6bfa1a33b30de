import type { Op } from '../../contract/op.ts'
import { describe, hasCode, HyperkubeError } from '../../kit/errors.ts'

const room = 'make room on the host: df -h shows which disk is full'

/** Whatever an op failed with, as an error that says what it was about. */
export function opError(op: Op, host: string, error: unknown): HyperkubeError {
  const about = { host, component: op.component }
  const what = `${op.action} ${op.target} ${op.name}`
  if (isFull(error)) {
    return new HyperkubeError('APPLY_DISK_FULL', `${what}: no room is left on the disk`, {
      ...about,
      hint: room,
    })
  }
  if (!(error instanceof HyperkubeError))
    return new HyperkubeError('APPLY_OP_FAILED', `${what} has failed`, { ...about, cause: error })
  const { code, message, hint, cause } = error
  return new HyperkubeError(code, message, {
    host,
    component: error.component ?? op.component,
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  })
}

/** The same for what fails beside ops: before the first, between two, or while it is written down. */
export function runError(error: unknown, host?: string): unknown {
  if (error instanceof HyperkubeError || !isFull(error)) return error
  const about = host === undefined ? {} : { host }
  return new HyperkubeError('APPLY_DISK_FULL', 'no room is left on the disk', { ...about, hint: room })
}

/** Said by the system to us, or to a program of its own. */
function isFull(error: unknown): boolean {
  if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')) return true
  return hasCode(error, 'COMMAND_FAILED') && describe(error).includes('No space left on device')
}
