import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { RestartPolicy } from '../../contract/predecessor.ts'
import type { Clock } from './clock.ts'
import type { HostFiles } from './files.ts'
import type { Downloader } from './downloader.ts'
import type { Layout, LinuxLayout, WindowsLayout } from './layout.ts'
import type { RunningRelease } from './running-release.ts'
import type { LinuxServiceManager, ServiceManager } from './service-manager.ts'
import type { WindowsOperations } from './windows-operations/table.ts'

/** Interfaces that the agent needs on any host to apply a plan. */
interface AnyHost {
  readonly layout: Layout
  readonly files: HostFiles
  readonly services: ServiceManager
  readonly users: Pick<Users, 'find'>
  readonly fetch: Downloader
  readonly tar: Tar
  readonly images: Images
  readonly clock: Clock
  readonly release: RunningRelease
}

/** Interfaces of the agent to a Linux host. */
export interface LinuxHost extends AnyHost {
  readonly os: 'linux'
  readonly layout: LinuxLayout
  readonly users: Users
  readonly kernel: Kernel
  readonly services: LinuxServiceManager
  readonly processes: Processes
  readonly mounts: Mounts
  readonly packets: Packets
  readonly cgroups: Cgroups
  readonly docker: Docker
}

/** Interfaces of the agent to a Windows host. */
export interface WindowsHost extends AnyHost {
  readonly os: 'windows'
  readonly layout: WindowsLayout
  readonly operations: WindowsOperations
  /** Interfaces that are needed in addition to `operations` to start the services of a worker. */
  readonly worker: WorkerDeps
}

export type Host = LinuxHost | WindowsHost

export interface Cgroups {
  /**
   * Removes the top-level cgroup of this name and its children in every hierarchy. A cgroup that contains
   * processes stays. Returns the removed paths.
   */
  remove(name: string): Promise<readonly string[]>
}

export interface DockerContainer {
  readonly running: boolean
  readonly restartPolicy: RestartPolicy
}

/** Containers that another tool runs in Docker, outside of Kubernetes. */
export interface Docker {
  /** Returns `unavailable` if Docker is not installed or does not run. */
  find(name: string): Promise<DockerContainer | 'absent' | 'unavailable'>
  setRestartPolicy(name: string, policy: RestartPolicy): Promise<void>
  start(name: string): Promise<void>
  /** Stops a container. Docker kills it after 30 seconds. */
  stop(name: string, signal: AbortSignal): Promise<void>
  /** Removes a stopped container. Its volumes stay. */
  remove(name: string): Promise<void>
  /** Lists the running containers that are no pods and not among the given names. */
  listOthers(names: readonly string[]): Promise<readonly string[] | 'unavailable'>
  /** Stops and removes the containers of all pods. Returns their number. */
  removePods(signal: AbortSignal): Promise<number>
}

/** Modules and settings of the running kernel. Configuration files restore them after a boot. */
export interface Kernel {
  isLoaded(module: string): Promise<boolean>
  load(module: string): Promise<void>
  /** Returns the value of a setting; undefined if the kernel does not have the setting. */
  readSetting(name: string): Promise<string | undefined>
  writeSetting(name: string, value: string): Promise<void>
}

/** Normalizes the white space in a value, because sysctl separates several numbers with tabs or spaces. */
export function formatSetting(value: string): string {
  return value.trim().split(/\s+/).join(' ')
}

/** Lists and unmounts mounts of a host. */
export interface Mounts {
  /** Lists mount points, the latest mounts first. */
  list(): Promise<readonly string[]>
  /** Unmounts a mount, lazily if it is in use. */
  unmount(path: string): Promise<void>
}

/** Identifies an nftables table. */
export interface PacketTable {
  readonly family: string
  readonly name: string
}

/** A network link, and the bridge that it is a port of. */
export interface NetworkLink {
  readonly name: string
  readonly bridge: string | undefined
}

/**
 * Network links and packet filter rules of a host. If the program that manages them is not installed, results
 * are empty.
 */
export interface Packets {
  links(): Promise<readonly NetworkLink[]>
  removeLink(name: string): Promise<void>
  /** Removes all routes with this protocol number, of both families. Returns them. */
  removeRoutes(protocol: number): Promise<readonly string[]>
  tables(): Promise<readonly PacketTable[]>
  removeTable(table: PacketTable): Promise<void>
  /** True if the table contains nothing that affects packets. */
  isEmpty(table: PacketTable): Promise<boolean>
  /** Returns all rules, in the format of iptables-save. */
  rules(version: 4 | 6): Promise<string>
  /** Applies changes in the format of iptables-restore. */
  changeRules(version: 4 | 6, text: string): Promise<void>
  /** Returns the names of all ipsets. */
  sets(): Promise<readonly string[]>
  /** Removes an ipset. A set that rules still use stays. */
  removeSet(name: string): Promise<void>
}

export interface HostProcess {
  readonly pid: number
  readonly parent: number
  readonly argv: readonly string[]
}

export interface Processes {
  list(): Promise<readonly HostProcess[]>
  /** Sends SIGKILL. */
  kill(pid: number): Promise<void>
}

export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** System users that components run as. */
export interface Users {
  find(name: string): Promise<UserIds | undefined>
  /** Creates a system user without home directory and shell. */
  create(name: string): Promise<void>
  remove(name: string): Promise<void>
}

/**
 * Users of a Windows host. Windows has no numeric ids. All files belong to SYSTEM, which plans call root or
 * SYSTEM.
 */
export const systemUserOnly: Pick<Users, 'find'> = {
  find: async (name) => (['root', 'SYSTEM'].includes(name) ? { uid: 0, gid: 0 } : undefined),
}

/** Images of the container runtime, managed through ctr and crictl. */
export interface Images {
  /**
   * Returns the digests of the images that exist, keyed by name. Returns undefined if the container runtime
   * does not respond.
   */
  find(ctr: string, names: readonly string[]): Promise<ReadonlyMap<string, string> | undefined>
  /** Lets the container runtime pull an image from its configured registries. */
  pull(crictl: string, name: string, signal: AbortSignal): Promise<void>
  /** Loads an archive under the names that it contains and pins the images. */
  load(ctr: string, archive: string, signal: AbortSignal): Promise<void>
  /**
   * Adds the name `other` to the image `name`. If another image already has the name `other`, that image
   * loses it.
   */
  rename(ctr: string, name: string, other: string): Promise<void>
  /** Protects an image from garbage collection. */
  pin(ctr: string, name: string): Promise<void>
  /** Allows garbage collection of an image. */
  unpin(ctr: string, name: string): Promise<void>
}

interface Archive {
  /** Path of a tar file that is compressed with gzip. */
  readonly path: string
  /** Target directory, which must be empty. */
  readonly into: string
  /** Number of leading path components that are removed from each entry. */
  readonly strip: number
}

export interface Tar {
  /** Unpacks an archive. Throws if an entry would be outside the target directory. */
  unpack(archive: Archive, signal: AbortSignal): Promise<void>
}

/** Interfaces for reconciling a worker, in addition to the operations of its host. */
export interface WorkerDeps {
  /** Returns true if a component reports that it is healthy. */
  isReady(component: ComponentPlan, signal: AbortSignal): Promise<boolean>
  /**
   * Reads the pod subnet of the host from its Node. Returns undefined while the subnet is not assigned or
   * cannot be read.
   */
  subnet(plan: NodePlan, signal: AbortSignal): Promise<string | undefined>
  /** Allocates source addresses with the CNI plugins in the directory `plugins`. */
  addresses(plugins: string): SourceAddresses
}

/** Manages the source address of kube-proxy, which is reserved in the store of host-local. */
export interface SourceAddresses {
  findReserved(network: string): Promise<string | undefined>
  /** Reserves an address, or returns the one that is already reserved. */
  reserve(network: string, subnet: string): Promise<string>
  release(network: string): Promise<void>
}

/** Returns the file name of a program on the host's operating system. */
export function programName({ os }: Pick<Host, 'os'>, name: string): string {
  return os === 'windows' ? `${name}.exe` : name
}
