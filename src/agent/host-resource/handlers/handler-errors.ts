import { HyperkubeError } from '../../../kit/errors.ts'

/** The request needs something that this host does not have. */
export function unsupportedError(reason: string, hint: string): HyperkubeError {
  return new HyperkubeError('HOST_UNSUPPORTED', reason, { hint })
}

/**
 * The host was free when the request was accepted, but another operation holds it now. The request may be
 * retried.
 */
export function hostBusyError(): HyperkubeError {
  return new HyperkubeError('HOST_BUSY', 'another operation holds this host', {
    hint: 'controllers retry when it is free',
  })
}
