import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import { keyOf } from '../../lifecycle/doctor/diagnosis.ts'
import type { Paint } from '../command.ts'
import { count } from '../format-text.ts'
import type { DoctorDocument, DoctorFinding } from './document.ts'

export interface DoctorTextOptions {
  /** What follows from a cause is told with all that was seen of it. */
  readonly wide: boolean
}

/** Each cause as a paragraph: what, where and since when; what was seen; what it means; what to type. What follows is a line. */
export function doctorText(
  { at, findings }: Pick<DoctorDocument, 'at' | 'findings'>,
  { wide }: DoctorTextOptions,
  paint: Paint,
): string {
  const now = new Date(at)
  const causes = findings.filter(({ follows }) => follows === undefined)
  if (causes.length === 0) return `${paint('green', 'nothing is wrong')}\n`
  const paragraphs = causes.map((cause) => {
    const following = findings.filter(({ follows }) => follows === keyOf(cause))
    return [...lines(cause, now, paint), ...followingLines(following, wide, now, paint)]
  })
  return `${paragraphs.map((some) => some.map((line) => `${line}\n`).join('')).join('\n')}\n${summary(findings)}\n`
}

function lines(finding: DoctorFinding, now: Date, paint: Paint): string[] {
  const { evidence, meaning, command, healing, needsPerson } = finding
  return [
    headline(finding, now, paint),
    ...evidence.map((line) => `  seen   ${printable(line)}`),
    ...(meaning === '' ? [] : [`  means  ${meaning}`]),
    ...(healing?.did === undefined ? [] : [`  agent  ${printable(healing.did)}`]),
    ...(healing === undefined ? [] : [`  next   ${printable(healing.next)}`]),
    `  ${paint('bold', 'type')}   ${printable(command)}`,
    ...(needsPerson ? [`  ${paint('yellow', 'it does not mend by itself')}`] : []),
  ]
}

function headline(
  { code, severity, what, host, component, since }: DoctorFinding,
  now: Date,
  paint: Paint,
): string {
  // What is about a host as a whole names it.
  const place =
    component === undefined ? '' : [host, component].filter((part) => part !== undefined).join('/')
  const colour = severity === 'error' ? 'red' : 'yellow'
  const where = place === '' ? '' : `${place}: `
  return `${paint(colour, `${severity} ${code}`)} ${printable(`${where}${what}`)}${sinceText(since, now)}`
}

function sinceText(since: string | undefined, now: Date): string {
  const began = since === undefined ? Number.NaN : Date.parse(since)
  if (Number.isNaN(began)) return ''
  return `, for ${duration(Math.max(0, now.getTime() - began))}`
}

function followingLines(
  findings: readonly DoctorFinding[],
  wide: boolean,
  now: Date,
  paint: Paint,
): string[] {
  return findings.flatMap((finding) => [
    `  from this follows: ${headline(finding, now, paint)}`,
    ...(wide ? finding.evidence.map((line) => `    seen   ${printable(line)}`) : []),
  ])
}

function summary(findings: readonly DoctorFinding[]): string {
  const causes = findings.filter(({ follows }) => follows === undefined)
  const [errors, warnings] = [
    causes.filter(({ severity }) => severity === 'error').length,
    causes.filter(({ severity }) => severity === 'warning').length,
  ]
  const parts = [
    ...(errors === 0 ? [] : [count(errors, 'error')]),
    ...(warnings === 0 ? [] : [count(warnings, 'warning')]),
  ]
  const following = findings.length - causes.length
  return `${parts.join(', ')}${following === 0 ? '' : `; ${following} more ${following === 1 ? 'follows' : 'follow'} from them`}`
}
