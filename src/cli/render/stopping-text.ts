import type { EventBody } from '../../lifecycle/agents/event-stream.ts'

/** Explains what happens after a run was interrupted or timed out. */
export function formatStopping(
  because: Extract<EventBody, { type: 'stopping' }>['because'],
): readonly string[] {
  const finishing = 'finishing the current operations, then releasing the operator lock'
  switch (because) {
    case 'interrupted':
      return [`interrupted: ${finishing}`, 'press Ctrl-C again to stop at once']
    case 'timeout':
      return [`timeout: ${finishing}`]
    default:
      return ['the operator lock is lost: finishing the current operations']
  }
}
