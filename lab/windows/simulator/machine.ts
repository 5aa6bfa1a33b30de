import type { SimulatedFile, SimulatedFiles } from './files/simulated-files.ts'

/** State of a simulated Windows host. Times are milliseconds since its creation. */
export interface Machine {
  time: number
  bootedAt: number
  /** Name of the host, as Windows reports it. */
  readonly name: string
  readonly address: string
  readonly gateway: string
  /**
   * Last number that was used for a process, an interface or another object. The simulator never reuses a
   * number, and a real host rarely does.
   */
  last: number
  readonly services: Map<string, SimulatedService>
  readonly processes: Map<number, SimulatedProcess>
  adapters: SimulatedAdapter[]
  routes: SimulatedRoute[]
  networks: SimulatedNetwork[]
  endpoints: SimulatedEndpoint[]
  policies: SimulatedPolicy[]
  readonly rules: Map<string, SimulatedRule>
  readonly environment: Map<string, string>
  readonly files: SimulatedFiles
  /** Number of times that all connections of the host broke. */
  breaks: number
  /** Address reservations of host-local: the owner of each pod address, per network. */
  readonly taken: Map<string, Map<string, string>>
  /** Images of the container runtime (key: image name). */
  readonly images: Map<string, SimulatedImage>
  readonly cluster: SimulatedCluster
}

export interface SimulatedImage {
  readonly digest: string
  kept: boolean
}

export interface SimulatedService {
  readonly name: string
  description: string
  commandLine: string
  dependsOn: readonly string[]
  environment: readonly string[]
  restartAfter: readonly number[]
  state: 'Stopped' | 'Start Pending' | 'Running' | 'Stop Pending'
  /** Time at which the state Start Pending or Stop Pending ends. */
  until: number
  exitCode: number
  process: number
  /** Time at which the service manager restarts the service; undefined if no restart is due. */
  restartAt: number | undefined
  failures: number
  /** True if the service ignores stop requests. */
  deaf: boolean
  /** True if the service is removed when its process ends. */
  markedForDeletion?: boolean
}

export interface SimulatedProcess {
  readonly id: number
  /** Id of the executable file. The file stays locked even if it is moved. */
  readonly image: string
  /** Current path of the executable file. */
  program: string
  readonly sha256: string
  readonly damaged: boolean
  /**
   * Id of the process that started this one: the service manager or a wrapper. A child outlives a killed
   * parent.
   */
  readonly parent: number
  readonly service: string
  readonly startedAt: number
  /** Id of the network that kube-proxy has found, if any. */
  network: string | undefined
}

export interface SimulatedAdapter {
  name: string
  index: number
  virtual: boolean
  /** Time at which the adapter is up again. A time in the past means that it is up. */
  downUntil: number
  addresses: { IPAddress: string; PrefixLength: number }[]
}

export interface SimulatedRoute {
  destination: string
  nextHop: string
  interfaceIndex: number
  metric: number
}

export interface SimulatedNetwork {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly subnet: string
  readonly adapter: string | undefined
  managementAddress: string | undefined
  /** True if the network survives a reboot. */
  readonly persistent: boolean
}

export interface SimulatedEndpoint {
  readonly id: string
  readonly name: string
  readonly network: string
  readonly address: string
}

export interface SimulatedPolicy {
  readonly id: string
  readonly endpoints: readonly string[]
  readonly sourceAddress: string
}

export interface SimulatedRule {
  readonly name: string
  readonly group: string
  enabled: boolean
  protocol: string
  ports: string
}

/** Cluster data that the host needs: its Node and pod subnet, once the kubelet has registered the Node. */
export interface SimulatedCluster {
  registered: boolean
  subnet: string
  /** Contents of the programs that can be downloaded (key: path). */
  readonly programs: ReadonlyMap<string, string>
}

/** Process id of the service manager. */
export const managerProcessId = 4

export const hostAddress = '10.0.0.7'
export const hostGateway = '10.0.0.1'
export const metadataAddress = '169.254.169.254/32'

export function newId(machine: Machine): string {
  machine.last++
  return `00000000-0000-4000-8000-${machine.last.toString(16).padStart(12, '0')}`
}

export function findFile(machine: Machine, path: string): SimulatedFile | undefined {
  return machine.files.at(path)
}

/** Writes a file with a new id. Replaces an existing file at the same path. */
export function writeMachineFile(machine: Machine, path: string, content: string): SimulatedFile {
  return machine.files.put(path, content, machine.time + ++machine.last / 1000)
}

/** True if a process runs from the file. Such a file can be moved, but neither changed nor removed. */
export function isRunning(
  { processes }: Pick<Machine, 'processes'>,
  { id }: Pick<SimulatedFile, 'id'>,
): boolean {
  return [...processes.values()].some(({ image }) => image === id)
}
