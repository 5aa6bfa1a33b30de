import type { Op } from '../../contract/op.ts'
import { formatError, hasCode, HyperkubeError } from '../../kit/errors.ts'

const diskFullHint = 'make room on the host: df -h shows which disk is full'

/** Converts an error of an op to one that names host, component and op. */
export function toOpError(op: Op, host: string, error: unknown): HyperkubeError {
  const subject = { host, component: op.component }
  const what = `${op.action} ${op.target} ${op.name}`
  if (isDiskFull(error)) {
    return new HyperkubeError('APPLY_DISK_FULL', `${what}: no room is left on the disk`, {
      ...subject,
      hint: diskFullHint,
    })
  }
  if (!(error instanceof HyperkubeError))
    return new HyperkubeError('APPLY_OP_FAILED', `${what} has failed`, { ...subject, cause: error })
  const { code, message, hint, cause } = error
  return new HyperkubeError(code, message, {
    host,
    component: error.component ?? op.component,
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  })
}

/**
 * Converts a disk-full error that occurred outside an op (before the first op, between two ops, or while
 * writing the journal) to APPLY_DISK_FULL. Returns other errors unchanged.
 */
export function toRunError(error: unknown, host?: string): unknown {
  if (error instanceof HyperkubeError || !isDiskFull(error)) return error
  const subject = host === undefined ? {} : { host }
  return new HyperkubeError('APPLY_DISK_FULL', 'no room is left on the disk', {
    ...subject,
    hint: diskFullHint,
  })
}

/** True if the disk is full, whether the agent's own write failed or a program that it ran reported it. */
function isDiskFull(error: unknown): boolean {
  if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')) return true
  return hasCode(error, 'COMMAND_FAILED') && formatError(error).includes('No space left on device')
}
