import type { Op } from '../../contract/op.ts'
import { describe, hasCode, HyperkubeError } from '../../kit/errors.ts'

const room = 'on the host df -h shows which one; make room, and run the same command again'

/** Whatever an op failed with, as an error that says what it was about. */
export function opError(op: Op, host: string, error: unknown): HyperkubeError {
  const about = { host, component: op.component, cause: error }
  const what = `${op.action} ${op.target} ${op.name}`
  if (isFull(error)) {
    return new HyperkubeError('APPLY_DISK_FULL', `${what}: no room is left on the disk`, {
      ...about,
      hint: room,
    })
  }
  if (!(error instanceof HyperkubeError))
    return new HyperkubeError('APPLY_OP_FAILED', `${what} has failed`, about)
  const { code, message, hint, cause } = error
  return new HyperkubeError(code, message, {
    host,
    component: error.component ?? op.component,
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  })
}

/** The same for what fails between two ops: before the first, or while it is written down. */
export function runError(host: string, error: unknown): unknown {
  if (error instanceof HyperkubeError || !isFull(error)) return error
  return new HyperkubeError('APPLY_DISK_FULL', 'no room is left on the disk', {
    host,
    hint: room,
    cause: error,
  })
}

/** Said by the system to us, or to a program of its own. */
function isFull(error: unknown): boolean {
  if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')) return true
  return hasCode(error, 'COMMAND_FAILED') && describe(error).includes('No space left on device')
}
