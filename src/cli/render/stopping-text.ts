import type { EventBody } from '../../lifecycle/agents/event-stream.ts'

/** Explains what happens after a run was interrupted or timed out. */
export function formatStopping(
  because: Extract<EventBody, { type: 'stopping' }>['because'],
): readonly string[] {
  const finishing = 'finishing what is being done, then giving the claim on the cluster back'
  switch (because) {
    case 'interrupted':
      return [`interrupted: ${finishing}`, 'Ctrl-C once more ends at once']
    case 'timeout':
      return [`the time is over: ${finishing}`]
    default:
      return ['the claim on the cluster is lost: finishing what is being done']
  }
}
