import { truncateList } from '../../../src/kit/text.ts'
import type { CheckResult } from './kube-bench.ts'

export type Profile = 'default' | 'cis'

/**
 * Results of one profile, by host. The target `policies` runs on the operator's machine, so its results have
 * the host name `operator`.
 */
export interface ProfileResults {
  readonly profile: Profile
  /** Results of the kube-bench configuration that hyperkube ships. */
  readonly shipped: ReadonlyMap<string, readonly CheckResult[]>
  /** Results of upstream's checks, in which only the paths are changed. */
  readonly upstream: ReadonlyMap<string, readonly CheckResult[]>
}

export interface CisEvidence {
  readonly date: Date
  readonly hyperkube: string
  readonly kubernetes: string
  readonly kubeBench: string
  readonly profiles: readonly ProfileResults[]
  readonly reasons: ReadonlyMap<string, string>
}

/** Formats docs/evidence/cis.md. */
export function formatCisEvidence(evidence: CisEvidence): string {
  const { date, hyperkube, kubernetes, kubeBench, profiles, reasons } = evidence
  return [
    '# CIS benchmark',
    '',
    `Written by \`npm run e2e:full -- test/full/cis.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},`,
    `kube-bench ${kubeBench} with its newest profile cis-1.12, one control plane and one worker of the lab, with the default addons.`,
    'Each profile of `spec.security.profile` had a new cluster.',
    '',
    '## Result',
    '',
    'Each check counts once. If hosts differ, the worst result counts. `no test` are checks without a test, for which kube-bench always warns.',
    '',
    '| profile | checks | pass | fail | warn | no test |',
    '|---|---|---|---|---|---|',
    ...profiles.flatMap(({ profile, shipped, upstream }) => [
      formatTotals(`\`${profile}\`, as shipped`, mergeHosts(shipped)),
      formatTotals(`\`${profile}\`, upstream's checks with only the paths changed`, mergeHosts(upstream)),
    ]),
    '',
    'For comparison: the published run of RKE2 against CIS 1.12 has 81 pass and 0 fail.',
    '[How to run it](../how-to/cis.md) lists every adapted check.',
    '',
    '## By host and target, as shipped',
    '',
    '| profile | host | target | pass | fail | warn | no test |',
    '|---|---|---|---|---|---|---|',
    ...profiles.flatMap(({ profile, shipped }) =>
      [...shipped].flatMap(([host, results]) =>
        [...Map.groupBy(results, ({ target }) => target)].map(
          ([target, some]) => `| \`${profile}\` | ${host} | ${target} | ${formatCounts(some)} |`,
        ),
      ),
    ),
    '',
    ...profiles.flatMap(({ profile, upstream }) => [
      `## Failures of upstream's checks with \`${profile}\``,
      '',
      '| check | what it read | why |',
      '|---|---|---|',
      ...mergeHosts(upstream)
        .filter(({ status }) => status === 'FAIL')
        .map(
          ({ id, text, actual }) =>
            `| ${id} ${text} | ${formatActual(actual)} | ${reasons.get(id) ?? 'NO REASON'} |`,
        ),
      '',
    ]),
    ...profiles.flatMap(({ profile, shipped }) => {
      const results = mergeHosts(shipped)
      const open = results.filter(({ status, manual }) => status !== 'PASS' && !manual)
      const manual = results.filter((one) => one.manual)
      return [
        `## Deviations with \`${profile}\`, as shipped`,
        '',
        '| check | result | why |',
        '|---|---|---|',
        ...open.map(
          ({ id, text, status }) => `| ${id} ${text} | ${status} | ${reasons.get(id) ?? 'NO REASON'} |`,
        ),
        '',
        `Checks without a test: ${manual.map(({ id }) => id).join(', ')}.`,
        '',
      ]
    }),
  ].join('\n')
}

const severity = ['PASS', 'WARN', 'FAIL'] as const

/** Merges the results of all hosts: keeps only the worst result of each check. */
export function mergeHosts(byHost: ReadonlyMap<string, readonly CheckResult[]>): CheckResult[] {
  const rank = ({ status }: CheckResult): number => severity.findIndex((one) => one === status)
  const merged = new Map<string, CheckResult>()
  for (const result of [...byHost.values()].flat()) {
    const previous = merged.get(result.id)
    if (previous === undefined || rank(result) > rank(previous)) merged.set(result.id, result)
  }
  return [...merged.values()].toSorted((a, b) => compareIds(a.id, b.id))
}

function compareIds(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

function formatTotals(name: string, results: readonly CheckResult[]): string {
  return `| ${name} | ${results.length} | ${formatCounts(results)} |`
}

function formatCounts(results: readonly CheckResult[]): string {
  const count = (status: CheckResult['status']): number =>
    results.filter((one) => one.status === status && !one.manual).length
  const manual = results.filter((one) => one.manual).length
  return [count('PASS'), count('FAIL'), count('WARN'), manual].join(' | ')
}

function formatActual(actual: string): string {
  const values = [...new Set(actual.split('\n').filter(Boolean))].map((value) => value.replaceAll('|', '/'))
  if (values.length === 0) return 'nothing'
  return values.length > 10 ? `${values.length} lines` : `\`${truncateList(values, 3).slice(0, 120)}\``
}
