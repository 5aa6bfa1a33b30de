import type { Remote } from '../../ssh/remote.ts'
import { collectHostFiles, type HostCollectOptions } from './collect-host.ts'
import { mergeConcurrently } from './merge-concurrently.ts'
import { isSupportFile, type SupportEntry } from './support-entry.ts'

export interface SupportHost {
  readonly host: string
  readonly services: readonly string[]
}

/** Result for a host: the number of collected files, or why none were collected. */
export type HostCollectResult = { readonly files: number } | { readonly reason: string }

export interface CollectOptions extends Omit<HostCollectOptions, 'services' | 'formatReason'> {
  readonly hosts: readonly SupportHost[]
  readonly connect: (host: string) => Promise<Remote>
  /** Entries about the cluster as a whole. */
  readonly cluster: AsyncIterable<SupportEntry>
  readonly formatReason: (host: string, error: unknown) => string
  readonly onHostDone: (host: string, outcome: HostCollectResult) => void
}

/** Maximum number of hosts that are read at the same time. */
const maxConcurrentHosts = 8

/**
 * Collects the files of the cluster and of all reachable hosts. An unreachable host is reported and does not
 * stop the others.
 */
export async function* collectSupportFiles(options: CollectOptions): AsyncGenerator<SupportEntry> {
  const { hosts, cluster } = options
  yield* mergeConcurrently(
    [cluster, ...hosts.map((host) => collectFromHost(host, options))],
    maxConcurrentHosts,
  )
}

async function* collectFromHost(
  { host, services }: SupportHost,
  { connect, formatReason, onHostDone, ...rest }: CollectOptions,
): AsyncGenerator<SupportEntry> {
  const reason = (error: unknown): string => formatReason(host, error)
  let files = 0
  try {
    for await (const entry of collectHostFiles(await connect(host), {
      ...rest,
      services,
      formatReason: reason,
    })) {
      if (isSupportFile(entry)) files++
      yield entry
    }
    onHostDone(host, { files })
  } catch (error) {
    rest.signal.throwIfAborted()
    onHostDone(host, { reason: reason(error) })
    yield { item: host, reason: reason(error) }
  }
}
