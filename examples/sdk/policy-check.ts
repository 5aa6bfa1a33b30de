// Checks a plan before it is applied, for example in CI:
//
//   hyperkube plan --out cluster.plan
//   node policy-check.ts cluster.plan && hyperkube up --plan cluster.plan
//
// Prints one line per violation. Exits with 1 if there are any.
import { readFile } from 'node:fs/promises'
import { hasErrors, parsePlan, type Plan } from 'hyperkube/contract'

export interface Policy {
  /** Maximum number of hosts that one run may change. */
  readonly maxChangedHosts: number
  /** Programs may only be downloaded from these addresses. */
  readonly downloadFrom: readonly string[]
}

const policy: Policy = {
  maxChangedHosts: 20,
  downloadFrom: ['https://dl.k8s.io/', 'https://github.com/', 'https://get.helm.sh/'],
}

/** Lists the violations of a plan. */
export function findViolations(plan: Plan, { maxChangedHosts, downloadFrom }: Policy): string[] {
  const changed = Object.entries(plan.ops).filter(([, ops]) => ops.length > 0)
  const planned = new Set(plan.plans.map(({ host }) => host))
  return [
    ...(hasErrors(plan.findings) ? ['the plan has errors'] : []),
    ...(changed.length > maxChangedHosts
      ? [`${changed.length} hosts change at once; at most ${maxChangedHosts} may`]
      : []),
    ...changed.flatMap(([host]) => (planned.has(host) ? [] : [`${host} would be removed from the cluster`])),
    ...plan.plans.flatMap(({ host, components }) =>
      components
        .flatMap(({ artifacts }) => artifacts)
        // hyperkube itself is copied from this machine.
        .flatMap((artifact) => (artifact.from === 'url' ? [artifact.url] : []))
        .filter((url) => !downloadFrom.some((address) => url.startsWith(address)))
        .map((url) => `${host}: ${url} is not an allowed download`),
    ),
  ]
}

if (import.meta.main) {
  const [file = 'cluster.plan'] = process.argv.slice(2)
  const violations = findViolations(parsePlan(JSON.parse(await readFile(file, 'utf8'))), policy)
  for (const violation of violations) process.stdout.write(`${violation}\n`)
  process.exitCode = violations.length === 0 ? 0 : 1
}
