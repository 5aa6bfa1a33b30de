import type { HostHealth } from '../../contract/health.ts'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import type { InstalledCertificate } from '../../contract/request.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { AgentLink } from '../agents/agent-link.ts'
import { openAgentLink } from '../agents/open-agent-link.ts'

/** What the agent of a host reports, or why it is unreachable. */
export type AgentObservation =
  | {
      readonly state: 'reachable'
      /** hyperkube version of the agent. */
      readonly version: string
      /** Missing if the agent is too old to report health. */
      readonly health?: HostHealth
      readonly provisional?: HostProvisionalChange
      /** The unfinished etcd restore of the host. */
      readonly restore?: EtcdRestoreProgress
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

/** Timeout for the first response of an agent. A healthy agent is already listening and responds at once. */
const helloTimeoutMs = 8000
/** Timeout for requests after `hello`. It is long, because a probe may take seconds until it times out. */
const healthTimeoutMs = 30_000

export async function observeAgent(
  remote: Remote,
  { fresh, certificates, signal }: AgentObserveOptions,
): Promise<AgentObservation> {
  try {
    return await callWithTimeout(helloTimeoutMs + healthTimeoutMs, signal, async (combined) => {
      const link = await openAgentLink(remote, combined)
      try {
        const { version, provisional, restore } = await callWithTimeout(helloTimeoutMs, combined, async () =>
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
          ...(restore === undefined ? {} : { restore }),
          certificates: response?.certificates ?? [],
        }
      } finally {
        link.close()
      }
    })
  } catch (error) {
    throwIfInterrupted(signal)
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

/** Throws if the signal was aborted for a reason other than the timeout of an observation. */
export function throwIfInterrupted(signal: AbortSignal): void {
  const isTimeout = signal.reason instanceof HyperkubeError && signal.reason.code === 'TIMED_OUT'
  if (!isTimeout) signal.throwIfAborted()
}

/**
 * Calls `work` and fails after the timeout even if `work` ignores its signal. A hanging host then counts as
 * unreachable.
 */
export async function callWithTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const timeout = new AbortController()
  const combined = AbortSignal.any([signal, timeout.signal])
  const aborted = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const message = `no answer within ${formatDuration(timeoutMs)}`
    timeout.abort(new HyperkubeError('TIMED_OUT', message))
  }, timeoutMs)
  const rejectAborted = (): void => aborted.reject(combined.reason)
  combined.addEventListener('abort', rejectAborted, { once: true })
  try {
    return await Promise.race([work(combined), aborted.promise])
  } finally {
    clearTimeout(timer)
    combined.removeEventListener('abort', rejectAborted)
  }
}
