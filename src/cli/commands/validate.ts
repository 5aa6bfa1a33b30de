import { hasErrors } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { findingText, print } from '../print.ts'

export const validate: CommandDefinition = {
  examples: [
    ['hyperkube validate', 'cluster.yml in this directory'],
    ['hyperkube validate -f production.yml -o json', 'another one, for a program to read'],
  ],
  configure: () => undefined,
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'FindingList', items: findings }
    print(context.stdout, options.output, document, () =>
      [
        ...findings.map(findingText),
        cluster === undefined ? '' : `${options.file}: ${summary(cluster)}\n`,
      ].join(''),
    )
    return hasErrors(findings) ? exitCodes.failure : exitCodes.ok
  },
}

function summary({ metadata, spec }: Cluster): string {
  const controlPlanes = spec.hosts.filter(({ roles }) => roles.includes('control-plane')).length
  return `${metadata.name} is valid: Kubernetes ${spec.kubernetes} on ${count(spec.hosts.length, 'host')}, ${count(controlPlanes, 'control plane')}`
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
