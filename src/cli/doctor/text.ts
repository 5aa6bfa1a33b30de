import { formatCount, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { formatDiagnosisKey } from '../../lifecycle/doctor/diagnosis.ts'
import type { Paint } from '../command/command.ts'
import type { DoctorDocument, DoctorFinding } from './document.ts'

export interface DoctorTextOptions {
  /** True to show the evidence of effects too. */
  readonly wide: boolean
}

/**
 * Formats one paragraph for each cause: problem, host, age, evidence, meaning and command. Effects get one
 * line each.
 */
export function formatDoctor(
  { at, findings }: Pick<DoctorDocument, 'at' | 'findings'>,
  { wide }: DoctorTextOptions,
  paint: Paint,
): string {
  const now = new Date(at)
  const causes = findings.filter(({ causedBy }) => causedBy === undefined)
  if (causes.length === 0) return `${paint('green', 'no problems found')}\n`
  const paragraphs = causes.map((cause) => {
    const effects = findings.filter(({ causedBy }) => causedBy === formatDiagnosisKey(cause))
    return [...formatCause(cause, now, paint), ...formatEffects(effects, wide, now, paint)]
  })
  return `${paragraphs.map((paragraph) => paragraph.map((line) => `${line}\n`).join('')).join('\n')}\n${formatSummary(findings)}\n`
}

function formatCause(finding: DoctorFinding, now: Date, paint: Paint): string[] {
  const { evidence, meaning, command, healing, needsOperator } = finding
  return [
    formatHeadline(finding, now, paint),
    ...evidence.map((line) => `  evidence    ${toPrintable(line)}`),
    ...(meaning === '' ? [] : [`  meaning     ${meaning}`]),
    ...(healing?.lastAction === undefined ? [] : [`  agent did   ${toPrintable(healing.lastAction)}`]),
    ...(healing === undefined ? [] : [`  agent next  ${toPrintable(healing.nextAction)}`]),
    `  ${paint('bold', 'action')}      ${toPrintable(command)}`,
    ...(needsOperator ? [`  ${paint('yellow', 'needs manual action')}`] : []),
  ]
}

function formatHeadline(
  { code, severity, what, host, component, since }: DoctorFinding,
  now: Date,
  paint: Paint,
): string {
  // A problem without a component needs no subject, because its summary already contains the host name.
  const subject =
    component === undefined ? '' : [host, component].filter((part) => part !== undefined).join('/')
  const colour = severity === 'error' ? 'red' : 'yellow'
  const prefix = subject === '' ? '' : `${subject}: `
  return `${paint(colour, `${severity} ${code}`)} ${toPrintable(`${prefix}${what}`)}${formatSince(since, now)}`
}

function formatSince(since: string | undefined, now: Date): string {
  const startedAt = since === undefined ? Number.NaN : Date.parse(since)
  if (Number.isNaN(startedAt)) return ''
  return `, for ${formatDuration(Math.max(0, now.getTime() - startedAt))}`
}

function formatEffects(findings: readonly DoctorFinding[], wide: boolean, now: Date, paint: Paint): string[] {
  return findings.flatMap((finding) => [
    `  effect: ${formatHeadline(finding, now, paint)}`,
    ...(wide ? finding.evidence.map((line) => `    evidence    ${toPrintable(line)}`) : []),
  ])
}

function formatSummary(findings: readonly DoctorFinding[]): string {
  const causes = findings.filter(({ causedBy }) => causedBy === undefined)
  const [errors, warnings] = [
    causes.filter(({ severity }) => severity === 'error').length,
    causes.filter(({ severity }) => severity === 'warning').length,
  ]
  const parts = [
    ...(errors === 0 ? [] : [formatCount(errors, 'error')]),
    ...(warnings === 0 ? [] : [formatCount(warnings, 'warning')]),
  ]
  const effects = findings.length - causes.length
  return `${parts.join(', ')}${effects === 0 ? '' : `; ${formatCount(effects, 'effect')}`}`
}
