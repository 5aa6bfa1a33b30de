import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Host } from '../../spec/host.ts'
import type { LinuxFacts, PlanInput, Scene, WindowsFacts } from '../context.ts'
import type { Shared } from '../shared-data.ts'
import type { Topology } from '../topology.ts'
import type { Ipv4Range } from './ipv4.ts'

/** What is known of the whole cluster, worked out once: there may be thousands of hosts. */
export interface Situation extends Omit<PlanInput, 'version'>, Shared {
  readonly topology: Topology
  readonly networks: readonly ClusterNetwork[]
  /** Of hosts with the same machine id, the one whose name comes first. */
  readonly firstOfMachine: ReadonlyMap<string, string>
  /** The same of hosts that call themselves by the same name. */
  readonly firstOfHostname: ReadonlyMap<string, string>
}

export interface ClusterNetwork {
  readonly name: 'pods' | 'services'
  readonly text: string
  readonly range: Ipv4Range
}

/** A host of cluster.yml, whether or not it has answered. */
export interface HostSubject extends Situation {
  readonly host: Host
  /** Where it stands in the file. */
  readonly index: number
}

/** A host of which it is known what it is and has. */
export interface SystemSubject<System extends Facts['system'] = Facts['system']>
  extends HostSubject, Omit<Scene<System>, 'version'> {}

type Check<Subject> = (subject: Subject) => readonly Finding[]

export type ClusterCheck = Check<Situation>
export type HostCheck = Check<HostSubject>
export type SystemCheck = Check<SystemSubject>
export type LinuxCheck = Check<SystemSubject<LinuxFacts>>
export type WindowsCheck = Check<SystemSubject<WindowsFacts>>

type Details = Pick<Finding, 'hint' | 'component' | 'path'>

export function error(
  { host }: Pick<HostSubject, 'host'>,
  code: string,
  message: string,
  details: Details,
): Finding {
  return { code, severity: 'error', message, ...details, host: host.name }
}

export function warning(
  { host }: Pick<HostSubject, 'host'>,
  code: string,
  message: string,
  details: Details,
): Finding {
  return { code, severity: 'warning', message, ...details, host: host.name }
}
