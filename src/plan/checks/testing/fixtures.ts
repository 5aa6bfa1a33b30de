import type { Finding } from '../../../contract/finding.ts'
import { parseTestCluster, buildPlanInput, type FactsVariation } from '../../testing/fixtures.ts'
import { checkPlanInput } from '../../check-plan-input.ts'
import type { PlanInput } from '../../context.ts'
import { buildTopology } from '../../topology.ts'

/** Test fixture: a control plane, a dedicated etcd member, a worker and a Windows worker. */
export const defaultHostLines = [
  '- { name: cp1, address: 10.0.0.11, roles: [control-plane] }',
  '- { name: etcd1, address: 10.0.0.12, roles: [etcd] }',
  '- { name: w1, address: 10.0.0.21, roles: [worker] }',
  '- { name: win1, address: 10.0.0.31, roles: [worker], os: windows }',
] as const

interface CheckCase {
  /** Lines of `spec` in cluster.yml. */
  readonly spec?: readonly string[]
  readonly hosts?: readonly string[]
  /** Changed facts, by host name. */
  readonly facts?: Readonly<Record<string, FactsVariation>>
  readonly input?: (input: PlanInput) => PlanInput
}

export function buildCheckedInput({
  spec = [],
  hosts: lines = defaultHostLines,
  facts = {},
  input = unchanged,
}: CheckCase): PlanInput {
  // Most checks have nothing to do with NetworkPolicy, so its findings appear only in tests that set `network`.
  const network = spec.some((line) => line.startsWith('network:')) ? [] : ['network: { policy: none }']
  const text = [
    'apiVersion: hyperkube.dev/v1',
    'kind: Cluster',
    'metadata: { name: test }',
    'spec:',
    ...['kubernetes: 1.37.1', ...spec, ...network, 'hosts:', ...lines.map((line) => `  ${line}`)].map(
      (line) => `  ${line}`,
    ),
  ].join('\n')
  return input(buildPlanInput(parseTestCluster(text), ({ name }) => facts[name] ?? {}))
}

export function checkCase(testCase: CheckCase): readonly Finding[] {
  const input = buildCheckedInput(testCase)
  return checkPlanInput(input, buildTopology(input.cluster, input.facts))
}

/** Runs the checks and formats each finding as host (or component), severity and code. */
export function checkCaseBriefly(testCase: CheckCase): string[] {
  return checkCase(testCase).map(
    ({ host, component, severity, code }) => `${host ?? component ?? 'cluster'} ${severity} ${code}`,
  )
}

function unchanged(input: PlanInput): PlanInput {
  return input
}
