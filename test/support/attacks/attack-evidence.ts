import type { AttackRecord } from './run-attacks.ts'

export interface AttackEvidence {
  readonly date: Date
  readonly hyperkube: string
  readonly kubernetes: string
  readonly records: readonly AttackRecord[]
}

/** Formats docs/evidence/attacks.md. */
export function formatAttackEvidence({ date, hyperkube, kubernetes, records }: AttackEvidence): string {
  const byAttacker = [...Map.groupBy(records, ({ attacker }) => attacker)]
  const rows = byAttacker.map(([attacker, some]) => {
    const refused = some.filter((one) => one.refused).length
    return `| ${attacker} | ${some.length} | ${refused} |`
  })
  return [
    '# Attacks on a live cluster',
    '',
    `Written by \`npm run e2e:full -- test/full/attacks.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},`,
    'three control planes and two workers of the lab, with the default addons.',
    '',
    'The suite reads everything that root finds on a worker: client certificates, keys, and the tokens of all pods. It then sends the',
    'requests below to the API, etcd, kubelets and other servers with each of these credentials. Writes are dry runs, which the API',
    'authorizes and admits like any other write. [The security model](../explanation/security.md) explains what refuses them.',
    '',
    '| attacker | attempts | refused |',
    '|---|---|---|',
    ...rows,
    '',
    '## Every attempt',
    '',
    '| attacker | attempt | refused |',
    '|---|---|---|',
    ...records.map(({ attacker, what, refused }) => `| ${attacker} | ${what} | ${refused ? 'yes' : 'NO'} |`),
    '',
  ].join('\n')
}
