import type { What } from '../../lifecycle/event-stream.ts'

/** What happens once a run shall end before its end. */
export function stoppingText(because: Extract<What, { type: 'stopping' }>['because']): readonly string[] {
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
