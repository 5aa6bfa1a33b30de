import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const file = join(import.meta.dirname, '../../docs/evidence/held-upgrade.md')

const introduction = `# A held upgrade, rolled back and confirmed

Written by \`test/full/held-upgrade.test.ts\`, \`held-upgrade-interruptions.test.ts\` and \`emulated-version.test.ts\`: Kubernetes
1.36.4 to 1.37.1 with \`upgrade --hold\`.
During the hold, API servers, controller managers and schedulers of 1.37.1 emulate 1.36; etcd 3.6.16, kubelets and kube-proxies of
1.36.4 stay.`

/**
 * Sections of the evidence page, in order. Each suite replaces only its own section, so suites can run alone.
 */
const titles = [
  'Rolled back',
  'Confirmed',
  'Interrupted and rolled back',
  'What the old API server reads',
] as const

export type EvidenceRow = readonly [name: string, value: string | number]

/** Writes one section: a text, then a table. */
export async function writeEvidenceSection(
  title: (typeof titles)[number],
  text: string,
  rows: readonly EvidenceRow[],
): Promise<void> {
  const page = await readFile(file, 'utf8').catch(() => '')
  const sections = page.split(/^(?=## )/m).filter((part) => part.startsWith('## '))
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')
  const date = new Date().toISOString().slice(0, 10)
  const section = `## ${title}\n\n${text} Run on ${date}.\n\n| | |\n|---|---|\n${table}`
  const ordered = titles.flatMap((one) =>
    one === title ? [section] : sections.filter((part) => part.startsWith(`## ${one}\n`)),
  )
  await writeFile(file, `${[introduction, ...ordered].map((part) => part.trim()).join('\n\n')}\n`)
}
