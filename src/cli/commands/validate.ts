import { hasErrors } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { formatFinding, printResult } from '../command/print.ts'
import { formatKubernetesVersion } from '../text/held-upgrade-text.ts'

export const validateCommand: LeafCommand = {
  examples: [
    ['hyperkube validate', 'check cluster.yml in this directory'],
    ['hyperkube validate -f production.yml -o json', 'check another file and print JSON'],
  ],
  sharedFlags: ['file', 'output'],
  configure: () => undefined,
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'FindingList', items: findings }
    printResult(context.stdout, options.output, document, () =>
      [
        ...findings.map(formatFinding),
        cluster === undefined ? '' : `${options.file}: ${formatSummary(cluster)}\n`,
      ].join(''),
    )
    return hasErrors(findings) ? exitCodes.failure : exitCodes.ok
  },
}

function formatSummary({ metadata, spec }: Cluster): string {
  const controlPlanes = spec.hosts.filter(({ roles }) => roles.includes('control-plane')).length
  return `${metadata.name} is valid: ${formatKubernetesVersion(spec)} on ${formatCount(spec.hosts.length, 'host')}, ${formatCount(controlPlanes, 'control plane')}`
}

function formatCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
