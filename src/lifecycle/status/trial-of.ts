import type { HostTrial } from '../../contract/trial.ts'
import { ownProgram } from '../../plan/linux/paths.ts'
import type { Remote } from '../../ssh/remote.ts'
import { AgentLink } from '../agent-link.ts'

/** What a host has on trial, or went back from. Nothing of one without an agent that answers: how that is, its services say. */
export async function trialOf(remote: Remote, signal: AbortSignal): Promise<HostTrial | undefined> {
  try {
    const link = new AgentLink(
      remote.host,
      await remote.open([ownProgram, 'agent-call'], { signal, root: true }),
    )
    try {
      return (await link.ask({ type: 'hello' }, 'hello')).trial
    } finally {
      link.close()
    }
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}
