import type { Remote } from '../../ssh/remote.ts'
import { isSupportFile, type SupportEntry } from './archive.ts'
import { collectHostFiles, type HostCollectOptions } from './collect-host.ts'

export interface SupportHost {
  readonly host: string
  readonly services: readonly string[]
}

/** Result for a host: the number of collected files, or the reason why the host was not read. */
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
 * Collects the files of the cluster and of all reachable hosts. An unreachable host is reported, and the
 * other hosts are still read.
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

/** Yields the items of all sources as they arrive. Reads at most `maxConcurrent` sources at the same time. */
export async function* mergeConcurrently<T>(
  sources: readonly AsyncIterable<T>[],
  maxConcurrent: number,
): AsyncGenerator<T> {
  const pending = sources.map((source) => source[Symbol.asyncIterator]())
  const active = new Map<AsyncIterator<T>, Promise<IteratorStep<T>>>()
  const advance = (iterator: AsyncIterator<T>): void => void active.set(iterator, readNext(iterator))
  for (const iterator of pending.splice(0, maxConcurrent)) advance(iterator)
  while (active.size > 0) {
    const { iterator, result } = await Promise.race(active.values())
    if (result.done === true) {
      active.delete(iterator)
      for (const next of pending.splice(0, 1)) advance(next)
    } else {
      advance(iterator)
      yield result.value
    }
  }
}

interface IteratorStep<T> {
  readonly iterator: AsyncIterator<T>
  readonly result: IteratorResult<T>
}

async function readNext<T>(iterator: AsyncIterator<T>): Promise<IteratorStep<T>> {
  return { iterator, result: await iterator.next() }
}
