import { z } from 'zod'
import type { NamingResult } from './heal-figures.ts'
import type { HealRow } from './heal-row.ts'
import type { Operator } from './operator.ts'

const findingSchema = z
  .looseObject({
    code: z.string(),
    message: z.string().optional(),
    what: z.string().optional(),
    host: z.string().optional(),
    component: z.string().optional(),
    command: z.string().optional(),
  })
  // The text of a finding is in `message` or, if the finding has no message, in `what`.
  .transform(({ message, what = '', ...found }) => ({ ...found, message: message ?? what }))
export interface DoctorFinding {
  readonly code: string
  readonly message: string
  readonly host?: string | undefined
  readonly component?: string | undefined
  readonly command?: string | undefined
}

const reportSchema = z.looseObject({ findings: z.array(findingSchema) })

/** One report of `doctor`, with its start and end in milliseconds since 1970. */
export interface DoctorReport {
  readonly began: number
  readonly ended: number
  readonly findings: readonly DoctorFinding[]
}

export async function runDoctor(operator: Pick<Operator, 'hyperkube'>): Promise<DoctorReport> {
  const began = Date.now()
  const { code, stdout, stderr } = await operator.hyperkube('doctor', '-o', 'json')
  // The exit code is nonzero also when doctor has findings, so only the output shows whether doctor itself
  // failed.
  if (!stdout.trimStart().startsWith('{')) throw new Error(`doctor ended with ${code}: ${stderr}`)
  return { began, ended: Date.now(), findings: reportSchema.parse(JSON.parse(stdout)).findings }
}

/** Formats a finding as one line. */
export function formatFinding({ code, message, host, component }: DoctorFinding): string {
  const location = [host, component].filter((part) => part !== undefined && !message.includes(part)).join(' ')
  return `${code}: ${location === '' ? '' : `${location}: `}${message}`
}

type FaultPattern = Pick<HealRow, 'codes' | 'component' | 'onAnyHost'>

/** True if a finding matches the expected codes and component of a fault on this host. */
export function matchesFault(
  { codes, component, onAnyHost }: FaultPattern,
  host: string,
  found: DoctorFinding,
): boolean {
  const matches = (actual: string | undefined, expected: string | undefined): boolean =>
    actual === undefined || expected === undefined || actual === expected
  return (
    codes.includes(found.code) &&
    matches(found.component, component) &&
    (onAnyHost === true || matches(found.host, host))
  )
}

export interface FaultPeriod {
  readonly host: string
  /** Time at which an agent detected the fault, or at which the fault began if it was not detected. */
  readonly from: number
  readonly to: number
}

/**
 * Rates how `doctor` reported a fault. The result is `first` if the fault was the first finding of at least
 * one report.
 */
export function rateNaming(
  row: FaultPattern,
  { host, from, to }: FaultPeriod,
  reports: readonly DoctorReport[],
): NamingResult {
  if (row.codes.length === 0) return 'not needed'
  const isFirst = ({ findings: [first] }: DoctorReport): boolean =>
    first !== undefined && matchesFault(row, host, first)
  if (reports.some(isFirst)) return 'first'
  return reports.some(({ began, ended }) => began >= from && ended <= to) ? 'not first' : 'too soon'
}

/** Parses a command from a finding into arguments, and adds --yes. */
export function parseCommand(text: string): string[] {
  const [program, ...args] = text.trim().split(/\s+/)
  if (program !== 'hyperkube') throw new Error(`"${text}" is not a hyperkube command`)
  return args.includes('--yes') ? args : [...args, '--yes']
}
