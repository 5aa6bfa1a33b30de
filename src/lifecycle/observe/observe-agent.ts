import type { HostHealth } from '../../contract/health.ts'
import type { InstalledCertificate } from '../../contract/request.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import { formatError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import { AgentLink } from '../agent-link.ts'
import { formatAgentHint, buildHostCommand } from '../host-program.ts'
import { callWithTimeout } from './call-with-timeout.ts'

/** What the agent of a host reports, or why it is unreachable. */
export type AgentObservation =
  | {
      readonly state: 'reachable'
      /** hyperkube version of the agent. */
      readonly version: string
      /** Missing if the agent is too old to report health. */
      readonly health?: HostHealth
      readonly provisional?: HostProvisionalChange
      /** Empty unless the options request certificates. */
      readonly certificates: readonly InstalledCertificate[]
    }
  | { readonly state: 'unreachable'; readonly reason: string }

export interface AgentObserveOptions {
  /** True to run every probe now instead of returning the last results. */
  readonly fresh: boolean
  readonly certificates: boolean
  readonly signal: AbortSignal
}

/** A healthy agent is already listening and answers at once. */
const helloTimeoutMs = 8000
/** Long, because a probe may take seconds until it times out. */
const healthTimeoutMs = 30_000

export async function observeAgent(
  remote: Remote,
  { fresh, certificates, signal }: AgentObserveOptions,
): Promise<AgentObservation> {
  try {
    return await callWithTimeout(helloTimeoutMs + healthTimeoutMs, signal, async (combined) => {
      const argv = await buildHostCommand(remote, ['agent-call'], combined)
      const conversation = await remote.open(argv, { signal: combined, root: true })
      const link = new AgentLink(remote.host, conversation, formatAgentHint(remote))
      try {
        const { version, provisional } = await callWithTimeout(helloTimeoutMs, combined, async () =>
          link.request({ type: 'hello' }, 'hello'),
        )
        const health = await requestHealth(link, fresh)
        const response = certificates
          ? await link.request({ type: 'certificates' }, 'certificates')
          : undefined
        return {
          state: 'reachable',
          version,
          ...(health === undefined ? {} : { health }),
          ...(provisional === undefined ? {} : { provisional }),
          certificates: response?.certificates ?? [],
        }
      } finally {
        link.close()
      }
    })
  } catch (error) {
    signal.throwIfAborted()
    return { state: 'unreachable', reason: formatError(error) }
  }
}

/** Requests the health of a host. Returns undefined if the agent is too old to know the request. */
async function requestHealth(link: AgentLink, fresh: boolean): Promise<HostHealth | undefined> {
  try {
    return (await link.request({ type: 'health', fresh }, 'health')).health
  } catch (error) {
    if (isUnknownRequest(error)) return undefined
    throw error
  }
}

function isUnknownRequest(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('CONTRACT_')
  )
}
