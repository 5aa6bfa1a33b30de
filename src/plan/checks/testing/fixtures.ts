import type { Finding } from '../../../contract/finding.ts'
import { clusterOf, planInput, type Variation } from '../../testing/fixtures.ts'
import { inputFindings } from '../../check-plan-input.ts'
import type { PlanInput } from '../../context.ts'
import { topologyOf } from '../../topology.ts'

/** For tests: a control plane, a worker, a Windows worker, and a member of etcd alone. */
export const hosts = [
  '- { name: cp1, address: 10.0.0.11, roles: [control-plane] }',
  '- { name: etcd1, address: 10.0.0.12, roles: [etcd] }',
  '- { name: w1, address: 10.0.0.21, roles: [worker] }',
  '- { name: win1, address: 10.0.0.31, roles: [worker], os: windows }',
] as const

interface Case {
  /** Lines of `spec`. */
  readonly spec?: readonly string[]
  readonly hosts?: readonly string[]
  /** By the name of a host. */
  readonly facts?: Readonly<Record<string, Variation>>
  readonly input?: (input: PlanInput) => PlanInput
}

export function inputOf({ spec = [], hosts: lines = hosts, facts = {}, input = same }: Case): PlanInput {
  const text = [
    'apiVersion: hyperkube.dev/v1',
    'kind: Cluster',
    'metadata: { name: test }',
    'spec:',
    ...['kubernetes: 1.37.1', ...spec, 'hosts:', ...lines.map((line) => `  ${line}`)].map(
      (line) => `  ${line}`,
    ),
  ].join('\n')
  return input(planInput(clusterOf(text), ({ name }) => facts[name] ?? {}))
}

export function findingsOf(wish: Case): readonly Finding[] {
  const input = inputOf(wish)
  return inputFindings(input, topologyOf(input.cluster, input.facts))
}

/** Findings in short: of whom, how bad, what. */
export function briefly(wish: Case): string[] {
  return findingsOf(wish).map(
    ({ host, component, severity, code }) => `${host ?? component ?? 'cluster'} ${severity} ${code}`,
  )
}

function same(input: PlanInput): PlanInput {
  return input
}
