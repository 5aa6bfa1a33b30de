import type { HostHealth } from '../../contract/health.ts'
import type { InstalledCertificate } from '../../contract/request.ts'
import type { HostTrial } from '../../contract/provisional-change.ts'
import { describe } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import { AgentLink } from '../agent-link.ts'
import { agentHint, ownCommand } from '../host-program.ts'
import { bounded } from './call-with-timeout.ts'

/** What the agent of a host says. */
export type AgentLook =
  | {
      readonly state: 'answers'
      /** Of hyperkube. */
      readonly version: string
      /** None of an agent that is older than that it could be asked. */
      readonly health?: HostHealth
      readonly trial?: HostTrial
      /** Where they were asked for. */
      readonly certificates: readonly InstalledCertificate[]
    }
  | { readonly state: 'silent'; readonly reason: string }

export interface AgentQuestions {
  /** Every probe is asked now, and not only what came of it the last time. */
  readonly fresh: boolean
  readonly certificates: boolean
  readonly signal: AbortSignal
}

/** For one that is well: it has been listening all the time. */
const greeting = 8000
/** A probe may take seconds to find that nobody answers. */
const telling = 30_000

export async function lookAtAgent(
  remote: Remote,
  { fresh, certificates, signal }: AgentQuestions,
): Promise<AgentLook> {
  try {
    return await bounded(greeting + telling, signal, async (all) => {
      const argv = await ownCommand(remote, ['agent-call'], all)
      const conversation = await remote.open(argv, { signal: all, root: true })
      const link = new AgentLink(remote.host, conversation, agentHint(remote))
      try {
        const { version, trial } = await bounded(greeting, all, async () =>
          link.ask({ type: 'hello' }, 'hello'),
        )
        const health = await healthOf(link, fresh)
        const known = certificates ? await link.ask({ type: 'certificates' }, 'certificates') : undefined
        return {
          state: 'answers',
          version,
          ...(health === undefined ? {} : { health }),
          ...(trial === undefined ? {} : { trial }),
          certificates: known?.certificates ?? [],
        }
      } finally {
        link.close()
      }
    })
  } catch (error) {
    signal.throwIfAborted()
    return { state: 'silent', reason: describe(error) }
  }
}

/** One that does not know the question refuses it. One that is gone by now is silent. */
async function healthOf(link: AgentLink, fresh: boolean): Promise<HostHealth | undefined> {
  try {
    return (await link.ask({ type: 'health', fresh }, 'health')).health
  } catch (error) {
    if (isUnknown(error)) return undefined
    throw error
  }
}

function isUnknown(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('CONTRACT_')
  )
}
