import { toPrintable } from '../../kit/text.ts'
import type { CaRow, CertificateRow } from '../../lifecycle/key-rotation/certificate-rows.ts'
import type { Paint } from '../command/command.ts'
import { type TableCell, type TableColumn, formatTable } from '../command/table.ts'

/** A host that did not respond, and the reason. */
export interface UnreachableHost {
  readonly host: string
  readonly reason: string
}

export interface CertificateListing {
  readonly certificates: readonly CertificateRow[]
  readonly cas: readonly CaRow[]
  readonly unreachable: readonly UnreachableHost[]
}

/** Formats a row for each certificate, then the CAs, then unreachable hosts. */
export function formatCertificateList(
  { certificates, cas, unreachable }: CertificateListing,
  wide: boolean,
  paint: Paint,
): string {
  const table = formatTable(wide ? [...columns, ...wideColumns] : columns, certificates, paint)
  const caTable = formatTable(caColumns, cas, paint)
  const unreachableText = unreachable
    .map(({ host, reason }) => `${toPrintable(`${host}: ${reason}`)}\n`)
    .join('')
  return `${table}\n${caTable}${unreachableText === '' ? '' : `\n${unreachableText}`}`
}

const columns: readonly TableColumn<CertificateRow>[] = [
  { head: 'HOST', cell: ({ host }) => ({ text: host }) },
  { head: 'COMPONENT', cell: ({ component }) => ({ text: component }) },
  { head: 'CERTIFICATE', cell: ({ file }) => ({ text: file.replace(/^.*[/\\]/, '') }) },
  { head: 'CA', cell: ({ ca }) => ({ text: ca }) },
  { head: 'STATE', cell: toStateCell },
  { head: 'DUE', cell: ({ due }) => ({ text: formatDate(due) }) },
  { head: 'UNTIL', cell: ({ until }) => ({ text: formatDate(until) }) },
]

const wideColumns: readonly TableColumn<CertificateRow>[] = [
  { head: 'FROM', cell: ({ from }) => ({ text: formatDate(from) }) },
  { head: 'SIGNED BY', cell: ({ signedBy = '' }) => ({ text: signedBy }) },
  { head: 'SUBJECT', cell: ({ subject = '' }) => ({ text: subject }) },
  { head: 'FILE', cell: ({ file }) => ({ text: file }) },
]

const caColumns: readonly TableColumn<CaRow>[] = [
  { head: 'CA', cell: ({ ca }) => ({ text: ca }) },
  { head: 'KEY', cell: ({ use }) => ({ text: use }) },
  { head: 'FROM', cell: ({ from }) => ({ text: formatDate(from) }) },
  { head: 'UNTIL', cell: ({ until }) => ({ text: formatDate(until) }) },
  { head: 'REPLACEMENT', cell: ({ phase = '-' }) => ({ text: phase }) },
]

function toStateCell({ state }: CertificateRow): TableCell {
  if (state === 'good') return { text: state, colour: 'green' }
  return { text: state, colour: state === 'due' ? 'yellow' : 'red' }
}

function formatDate(time: string | undefined): string {
  return time === undefined ? '-' : time.slice(0, 16).replace('T', ' ')
}
