import { toPrintable } from '../../kit/text.ts'
import {
  type AdoptionItem,
  type AdoptionReport,
  type AdoptionVerdict,
  adoptionVerdicts,
} from '../../lifecycle/adoption/adoption-report.ts'
import type { Paint } from '../command/command.ts'
import { formatTable } from '../command/table.ts'

const headings: Readonly<Record<AdoptionVerdict, string>> = {
  kept: 'would be kept',
  changed: 'would change',
  lost: 'would be lost',
  prevents: 'prevents the adoption',
}

/** Says what an operator can do after the files are written. */
export const nextStep =
  'this command changes no host; with the written files, hyperkube up moves the hosts one by one, and hyperkube adopt rollback returns them until hyperkube adopt commit'

/** Formats a report for people. */
export function formatAdoptionReport(report: AdoptionReport, paint: Paint): string {
  const hosts = formatTable(
    [
      { head: 'HOST', cell: ({ name }) => ({ text: name }) },
      { head: 'ADDRESS', cell: ({ address }) => ({ text: address }) },
      { head: 'NODE', cell: ({ node }) => ({ text: node }) },
      { head: 'ROLES', cell: ({ roles }) => ({ text: roles.join(',') }) },
      { head: 'KUBELET', cell: ({ kubelet }) => ({ text: kubelet ?? 'unknown' }) },
      { head: 'RUNTIME', cell: ({ runtime }) => ({ text: runtime ?? 'unknown' }) },
      { head: 'SYSTEM', cell: ({ system }) => ({ text: system }) },
    ],
    report.hosts,
    paint,
  )
  const title = `${report.cluster}: a cluster of ${report.from}, Kubernetes ${report.kubernetes ?? 'unknown'}`
  const groups = adoptionVerdicts.map((verdict) => formatGroup(report.items, verdict, paint))
  return `${toPrintable(title)}\n\n${hosts}${groups.join('')}\n${nextStep}\n`
}

function formatGroup(items: readonly AdoptionItem[], verdict: AdoptionVerdict, paint: Paint): string {
  const found = items.filter((item) => item.verdict === verdict)
  if (found.length === 0) return ''
  const colour = verdict === 'prevents' ? 'red' : verdict === 'lost' ? 'yellow' : 'bold'
  return `\n${paint(colour, headings[verdict])}\n${found.map(formatItem).join('')}`
}

function formatItem({ host, code, message, next }: AdoptionItem): string {
  const line = `  ${code}: ${host === undefined ? '' : `${host}: `}${message}`
  // toPrintable escapes line breaks, so each item stays on one line.
  return `${toPrintable(line)}\n${next === undefined ? '' : `    → ${toPrintable(next)}\n`}`
}
