import { printable } from '../../kit/printable.ts'
import type { AuthorityRow, CertificateRow } from '../../lifecycle/key-rotation/certificate-rows.ts'
import type { Paint } from '../command.ts'
import { type Cell, type Column, tableText } from '../table.ts'
import type { Unheard } from './list.ts'

export interface Listed {
  readonly certificates: readonly CertificateRow[]
  readonly authorities: readonly AuthorityRow[]
  readonly unheard: readonly Unheard[]
}

/** A row for each certificate, then those of the authorities, then who could not be asked. */
export function listText(
  { certificates, authorities, unheard }: Listed,
  wide: boolean,
  paint: Paint,
): string {
  const table = tableText(wide ? [...columns, ...wideColumns] : columns, certificates, paint)
  const above = tableText(authorityColumns, authorities, paint)
  const missing = unheard.map(({ host, reason }) => `${printable(`${host}: ${reason}`)}\n`).join('')
  return `${table}\n${above}${missing === '' ? '' : `\n${missing}`}`
}

const columns: readonly Column<CertificateRow>[] = [
  { head: 'HOST', cell: ({ host }) => ({ text: host }) },
  { head: 'COMPONENT', cell: ({ component }) => ({ text: component }) },
  { head: 'CERTIFICATE', cell: ({ file }) => ({ text: file.replace(/^.*[/\\]/, '') }) },
  { head: 'AUTHORITY', cell: ({ authority }) => ({ text: authority }) },
  { head: 'STATE', cell: stateCell },
  { head: 'DUE', cell: ({ due }) => ({ text: date(due) }) },
  { head: 'UNTIL', cell: ({ until }) => ({ text: date(until) }) },
]

const wideColumns: readonly Column<CertificateRow>[] = [
  { head: 'FROM', cell: ({ from }) => ({ text: date(from) }) },
  { head: 'SIGNED BY', cell: ({ signedBy = '' }) => ({ text: signedBy }) },
  { head: 'SUBJECT', cell: ({ subject = '' }) => ({ text: subject }) },
  { head: 'FILE', cell: ({ file }) => ({ text: file }) },
]

const authorityColumns: readonly Column<AuthorityRow>[] = [
  { head: 'AUTHORITY', cell: ({ authority }) => ({ text: authority }) },
  { head: 'KEY', cell: ({ use }) => ({ text: use }) },
  { head: 'FROM', cell: ({ from }) => ({ text: date(from) }) },
  { head: 'UNTIL', cell: ({ until }) => ({ text: date(until) }) },
  { head: 'REPLACEMENT', cell: ({ phase = '-' }) => ({ text: phase }) },
]

function stateCell({ state }: CertificateRow): Cell {
  if (state === 'good') return { text: state, colour: 'green' }
  return { text: state, colour: state === 'due' ? 'yellow' : 'red' }
}

function date(time: string | undefined): string {
  return time === undefined ? '-' : time.slice(0, 16).replace('T', ' ')
}
