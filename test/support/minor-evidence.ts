import { renderTable } from '../../scripts/markdown-table.ts'

/** Results of one Kubernetes version. Results that no run has produced are absent. */
export interface MinorResults {
  /** Version without a leading v. */
  readonly kubernetes: string
  readonly etcd: string
  readonly date: string
  /** Number of programs that were built and report this version. */
  readonly programs: number
  /** Number of flags that these programs accept. */
  readonly flags: number
  readonly upSeconds?: number
  readonly conformance?: { readonly passed: number; readonly seconds: number }
}

const head = ['Kubernetes', 'etcd', 'date', 'builds', 'flags taken', '`up` 1+1', 'thirty conformance tests']

/** Replaces the row of a version in the page. Rows of other versions and sections after the table stay. */
export function updateMinorEvidence(page: string, results: MinorResults): string {
  const others = [...page.matchAll(/^\| \d.*\|$/gm)]
    .map(([line]) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
    .filter(([kubernetes]) => kubernetes !== results.kubernetes)
  const rows = [...others, formatRow(results)].toSorted(([a = ''], [b = '']) =>
    b.localeCompare(a, 'en', { numeric: true }),
  )
  const [sections = ''] = /^## [^]*/m.exec(page) ?? []
  return `# Every minor

Written by \`npx vitest run --project full test/full/older-minors.test.ts\`, one row for each run. Each Kubernetes version was compiled from
upstream's Go modules in the lab. One control plane and one worker are lab hosts. What has no row or an empty cell was not run.

${renderTable(head, rows)}

- *builds*: programs that were compiled and report this version.
- *flags taken*: flags that kube-apiserver, kube-controller-manager, kube-scheduler, kubelet and kube-proxy accept, read from these programs.
- *\`up\` 1+1*: from the start of the hosts to the end of \`hyperkube up\`, without an error.
  Afterwards \`hyperkube plan\` found nothing to do, all nodes reported this version, and no program had logged an unknown flag or field.
- *thirty conformance tests*: the same thirty tests of upstream's suite of this version, three at a time, on these two hosts.
  agnhost is built from the sources of this version, other images are the lab's own ([what they are](../conformance.md#in-the-lab)).
${sections === '' ? '' : `\n${sections}`}`
}

function formatRow(results: MinorResults): string[] {
  const { kubernetes, etcd, date, programs, flags, upSeconds, conformance } = results
  return [
    kubernetes,
    etcd,
    date,
    `${programs} programs`,
    String(flags),
    upSeconds === undefined ? '' : `${upSeconds.toFixed(0)} s`,
    conformance === undefined
      ? ''
      : `${conformance.passed} of 30 passed in ${conformance.seconds.toFixed(0)} s`,
  ]
}
