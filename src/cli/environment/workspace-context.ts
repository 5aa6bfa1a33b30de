import { homedir, hostname, userInfo } from 'node:os'
import { bundleDisk } from '../../bundle/disk.ts'
import { httpFetcher, retryingFetcher } from '../../catalog/fetcher.ts'
import { httpTransport, retryingTransport } from '../../catalog/transport.ts'
import type { ChartRenderer } from '../../workspace/chart-renderer.ts'
import type { WorkspaceContext } from '../../workspace/context.ts'
import { createLocalFiles } from './local-files.ts'
import { findCacheDirectory, findConfigDirectory } from './operator-directories.ts'

export interface WorkspaceContextOptions {
  /** Path of the executable of hyperkube for this machine; undefined if hyperkube runs from its sources. */
  readonly executable: string | undefined
  readonly signal: AbortSignal
  /** Prints a line of progress, for example about a download. */
  readonly writeLine: (line: string) => void
}

/** Creates the access to files, network and clock of this machine. */
export function createWorkspaceContext({
  executable,
  signal,
  writeLine,
}: WorkspaceContextOptions): WorkspaceContext {
  const { platform, env } = process
  const cacheDirectory = (): string => findCacheDirectory({ platform, env, home: homedir })
  // Loaded only when needed, because every service starts this program and few commands render charts.
  const loadChartRenderer = async (): Promise<ChartRenderer> => {
    const { createChartRenderer } = await import('./chart-renderer.ts')
    return createChartRenderer({ bundles: bundleDisk(), cacheDirectory, writeLine })
  }
  return {
    ...createLocalFiles(),
    connect: (route) => ({
      fetcher: retryingFetcher(httpFetcher(route)),
      web: retryingTransport(httpTransport(route)),
    }),
    // The digests are loaded only when needed, because every service starts this program and few commands
    // read the digests.
    releaseDigests: async () => (await import('../../catalog/release-digests.ts')).readShippedDigests(),
    bundles: bundleDisk(),
    charts: {
      computeDigest: async (path, until) => (await loadChartRenderer()).computeDigest(path, until),
      render: async (request, until) => (await loadChartRenderer()).render(request, until),
    },
    now: () => new Date(),
    operator: {
      user: userInfo().username,
      home: homedir(),
      machine: hostname(),
      sshAgent: env['SSH_AUTH_SOCK'],
    },
    findRelease: async (arch, os, origin) => {
      const { findAgentRelease, readReleaseTable } = await import('./agent-release.ts')
      const url = env['HYPERKUBE_RELEASE_URL'] || undefined
      const deps = { executable, cacheDirectory, table: await readReleaseTable(), url, writeLine }
      return findAgentRelease(arch, os, deps, origin)
    },
    configDirectory: () => findConfigDirectory({ platform, env, home: homedir }),
    cacheDirectory,
    signal,
  }
}
