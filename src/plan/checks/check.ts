import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { LinuxSystemFacts, PlanInput, PlanContext, WindowsSystemFacts } from '../context.ts'
import type { SharedPlanData } from '../shared-data.ts'
import type { Topology } from '../topology.ts'
import type { Ipv4Range } from './ipv4.ts'

/**
 * Input of the cluster checks. Derived data is computed only once, because there may be thousands of hosts.
 */
export interface CheckInput extends Omit<PlanInput, 'version'>, SharedPlanData {
  readonly topology: Topology
  readonly networks: readonly ClusterNetwork[]
  /** The first host, by name, with each machine id. */
  readonly firstHostByMachineId: ReadonlyMap<string, string>
  /** The first host, by name, with each hostname. */
  readonly firstHostByHostname: ReadonlyMap<string, string>
}

export interface ClusterNetwork {
  readonly name: 'pods' | 'services'
  readonly text: string
  readonly range: Ipv4Range
}

/** A host of cluster.yml, reachable or not. */
export interface HostSubject extends CheckInput {
  readonly host: HostSpec
  /** Index in spec.hosts. */
  readonly index: number
}

/** A host with known facts. */
export interface SystemSubject<System extends Facts['system'] = Facts['system']>
  extends HostSubject, Omit<PlanContext<System>, 'version'> {}

type Check<Subject> = (subject: Subject) => readonly Finding[]

export type ClusterCheck = Check<CheckInput>
export type HostCheck = Check<HostSubject>
export type SystemCheck = Check<SystemSubject>
export type LinuxCheck = Check<SystemSubject<LinuxSystemFacts>>
export type WindowsCheck = Check<SystemSubject<WindowsSystemFacts>>

type FindingDetails = Pick<Finding, 'hint' | 'component' | 'path'>

export function hostError(
  { host }: Pick<HostSubject, 'host'>,
  code: string,
  message: string,
  details: FindingDetails,
): Finding {
  return { code, severity: 'error', message, ...details, host: host.name }
}

export function hostWarning(
  { host }: Pick<HostSubject, 'host'>,
  code: string,
  message: string,
  details: FindingDetails,
): Finding {
  return { code, severity: 'warning', message, ...details, host: host.name }
}
