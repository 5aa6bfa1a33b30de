import type { HostAction } from '../../contract/host-resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/**
 * One handler for each action that can be requested. A handler returns lines of text for people and throws if
 * it fails.
 */
export type RequestHandlers = {
  readonly [T in HostAction['type']]: (
    action: Extract<HostAction, { readonly type: T }>,
    signal: AbortSignal,
  ) => Promise<readonly string[]>
}

export async function runRequestHandler(
  handlers: RequestHandlers,
  action: HostAction,
  signal: AbortSignal,
): Promise<readonly string[]> {
  switch (action.type) {
    case 'check':
      return handlers[action.type](action, signal)
    case 'capture-logs':
      return handlers[action.type](action, signal)
    case 'renew-certificates':
      return handlers[action.type](action, signal)
    case 'defragment-etcd':
      return handlers[action.type](action, signal)
    default:
      return handlers[action.type](action, signal)
  }
}

/** Builds the error for a request that needs something that this host does not have. */
export function unsupportedError(reason: string, hint: string): HyperkubeError {
  return new HyperkubeError('HOST_UNSUPPORTED', reason, { hint })
}

/**
 * Builds the error for an accepted request that cannot start, because another operation uses the host now.
 * The request may be retried.
 */
export function hostBusyError(): HyperkubeError {
  return new HyperkubeError('HOST_BUSY', 'another operation is running on this host', {
    hint: 'no action needed: controllers retry the request',
  })
}
