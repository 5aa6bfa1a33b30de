import type { BundleDisk } from '../bundle/disk.ts'
import type { Arch, Os } from '../catalog/artifacts.ts'
import type { ArtifactSource } from '../catalog/artifact-source.ts'
import type { Fetcher } from '../catalog/fetcher.ts'
import type { ReleaseDigests } from '../catalog/release-digests.ts'
import type { HttpTransport } from '../catalog/transport.ts'
import type { HttpRoute } from '../kit/http-route.ts'
import type { PrivateFiles } from '../identity/private-files.ts'
import type { AgentRelease } from '../lifecycle/agents/agent-release.ts'
import type { FindKnownHostKeys } from '../ssh/known-hosts-files.ts'
import type { ChartRenderer } from './chart-renderer.ts'

/** Everything of the operator's machine that an action may use: files, network, clock and signals. */
export interface WorkspaceContext extends LocalFiles {
  /** Creates the clients for downloads. `openClusterWeb` calls it with the route of a cluster. */
  readonly connect: (route: HttpRoute) => WebClients
  /** Returns the digests of files and images in the catalog. These digests are part of this release. */
  readonly releaseDigests: () => Promise<ReleaseDigests>
  readonly bundles: BundleDisk
  readonly charts: ChartRenderer
  readonly now: () => Date
  readonly operator: Operator
  /**
   * Finds the executable of this release for an architecture and operating system. Throws if it does not
   * exist and cannot be downloaded.
   */
  readonly findRelease: (arch: Arch, os: Os, origin: ReleaseOrigin) => Promise<AgentRelease>
  /** The operator's configuration directory. Throws if the operator has no home directory. */
  readonly configDirectory: () => string
  /** The operator's cache directory. Throws if the operator has no home directory. */
  readonly cacheDirectory: () => string
  /** Aborted by Ctrl-C and by --timeout. */
  readonly signal: AbortSignal
}

/** How a cluster reaches download sites. */
export interface ReleaseOrigin {
  readonly artifacts: ArtifactSource
  /** Returns the way to download sites: proxy, logins and CAs of cluster.yml. */
  readonly openRoute: () => Promise<HttpRoute>
  readonly signal: AbortSignal
}

/** Clients for downloads from the operator's machine. */
export interface WebClients {
  readonly fetcher: Fetcher
  readonly web: HttpTransport
}

/** The person who runs an action. */
export interface Operator {
  readonly user: string
  readonly home: string
  /** Name of the operator's machine. */
  readonly machine: string
  /** Path of the ssh agent's socket. */
  readonly sshAgent: string | undefined
  /** Lookup in known_hosts files. Undefined to read the files for each cluster. */
  readonly findKnownHostKeys?: FindKnownHostKeys
}

export interface LocalFiles {
  readonly exists: (path: string) => Promise<boolean>
  readonly readFile: (path: string) => Promise<string>
  /** Returns the SHA-256 of a file. */
  readonly hashFile: (path: string, signal: AbortSignal) => Promise<string>
  /** Names of the entries in a directory. */
  readonly listDirectory: (path: string) => Promise<readonly string[]>
  readonly createFile: (path: string, text: string, mode: number) => Promise<void>
  /** Creates or replaces a file atomically. */
  readonly replaceFile: (path: string, text: string, mode: number) => Promise<void>
  readonly privateFiles: PrivateFiles
  /** Creates the directory and its parents. Existing directories keep their mode. */
  readonly makePrivateDirectory: (path: string) => Promise<void>
}

/** The files that identify a cluster on the operator's machine. */
export interface ClusterFiles {
  /** Path of cluster.yml. */
  readonly file: string
  /** Path of the identity's key file, if it is not the default. */
  readonly key?: string
}
