import type { SimulatedFile, SimulatedFiles } from './files/simulated-files.ts'

/** A Windows host without Windows, as what is known of it at one moment. Times are milliseconds since it was made. */
export interface Machine {
  time: number
  bootedAt: number
  /** What the host calls itself, its address, and its way out. */
  readonly name: string
  readonly address: string
  readonly gateway: string
  /** Numbers of processes, interfaces and objects: never the same twice, as a host's rarely are. */
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
  /** How often all connections of the host broke. */
  breaks: number
  /** Which addresses of pods are taken, by whom, for each network: host-local's own book. */
  readonly taken: Map<string, Map<string, string>>
  /** What the container runtime has, by name. */
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
  /** When the state that is pending is over. */
  until: number
  exitCode: number
  process: number
  /** When the manager starts it again, by itself. */
  restartAt: number | undefined
  failures: number
  /** Whether it obeys when it is told to stop. */
  deaf: boolean
  /** Whether it goes as soon as its process has ended. */
  leaving?: boolean
}

export interface SimulatedProcess {
  readonly id: number
  /** Which file it runs from: that stays locked wherever it is moved. */
  readonly image: string
  /** Where that file is, and what was in it. */
  program: string
  readonly sha256: string
  readonly damaged: boolean
  /** Who has started it: the manager of services, or a runner. It runs on when that one is killed. */
  readonly parent: number
  readonly service: string
  readonly startedAt: number
  /** The network that kube-proxy has found when it started. */
  network: string | undefined
}

export interface SimulatedAdapter {
  name: string
  index: number
  virtual: boolean
  /** When it is back; in the past while it is up. */
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
  /** Whether it is still there when the host has restarted. */
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

/** What the host has of the cluster: its Node, once its kubelet has registered it. */
export interface SimulatedCluster {
  registered: boolean
  subnet: string
  /** What the programs of the host are made of, by their path: what somebody can fetch. */
  readonly programs: ReadonlyMap<string, string>
}

/** The process that starts services. */
export const manager = 4

export const hostAddress = '10.0.0.7'
export const hostGateway = '10.0.0.1'
export const metadataAddress = '169.254.169.254/32'

export function newId(machine: Machine): string {
  machine.last++
  return `00000000-0000-4000-8000-${machine.last.toString(16).padStart(12, '0')}`
}

export function fileAt(machine: Machine, path: string): SimulatedFile | undefined {
  return machine.files.at(path)
}

/** A new file in the place of any other. */
export function putFile(machine: Machine, path: string, content: string): SimulatedFile {
  return machine.files.put(path, content, machine.time + ++machine.last / 1000)
}

/** Whether a process runs from it: it can be moved, and neither changed nor removed. */
export function isRunning(
  { processes }: Pick<Machine, 'processes'>,
  { id }: Pick<SimulatedFile, 'id'>,
): boolean {
  return [...processes.values()].some(({ image }) => image === id)
}
