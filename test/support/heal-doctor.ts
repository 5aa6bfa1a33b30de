import { z } from 'zod'
import type { Named } from './heal-figures.ts'
import type { HealRow } from './heal-row.ts'
import type { Operator } from './operator.ts'

const finding = z
  .looseObject({
    code: z.string(),
    message: z.string().optional(),
    what: z.string().optional(),
    host: z.string().optional(),
    component: z.string().optional(),
    command: z.string().optional(),
  })
  // What was found is one sentence, whichever of the two it is called.
  .transform(({ message, what = '', ...found }) => ({ ...found, message: message ?? what }))
export interface DoctorFinding {
  readonly code: string
  readonly message: string
  readonly host?: string | undefined
  readonly component?: string | undefined
  readonly command?: string | undefined
}

const report = z.looseObject({ findings: z.array(finding) })

/** What `doctor` has said once. Times are those of the machine's clock. */
export interface Told {
  readonly began: number
  readonly ended: number
  readonly findings: readonly DoctorFinding[]
}

export async function askDoctor(operator: Pick<Operator, 'hyperkube'>): Promise<Told> {
  const began = Date.now()
  const { code, stdout, stderr } = await operator.hyperkube('doctor', '-o', 'json')
  // Its code says whether something was found; whether it has worked at all is seen from its words.
  if (!stdout.trimStart().startsWith('{')) throw new Error(`doctor ended with ${code}: ${stderr}`)
  return { began, ended: Date.now(), findings: report.parse(JSON.parse(stdout)).findings }
}

/** As it is read in a line. */
export function lineOf({ code, message, host, component }: DoctorFinding): string {
  const where = [host, component].filter((part) => part !== undefined && !message.includes(part)).join(' ')
  return `${code}: ${where === '' ? '' : `${where}: `}${message}`
}

type Naming = Pick<HealRow, 'codes' | 'component' | 'anywhere'>

/** Whether this is how the fault of a row is named, there. */
export function names({ codes, component, anywhere }: Naming, host: string, found: DoctorFinding): boolean {
  const same = (is: string | undefined, shall: string | undefined): boolean =>
    is === undefined || shall === undefined || is === shall
  return (
    codes.includes(found.code) &&
    same(found.component, component) &&
    (anywhere === true || same(found.host, host))
  )
}

export interface Span {
  readonly host: string
  /** From when on an agent knew of it, or `doctor` could see it. */
  readonly from: number
  readonly to: number
}

/** Whoever asked while it lasted and was known must have been told of it before all else, once at least. */
export function namedBy(row: Naming, { host, from, to }: Span, told: readonly Told[]): Named {
  if (row.codes.length === 0) return 'not needed'
  const isFirst = ({ findings: [first] }: Told): boolean => first !== undefined && names(row, host, first)
  if (told.some(isFirst)) return 'first'
  return told.some(({ began, ended }) => began >= from && ended <= to) ? 'not first' : 'too soon'
}

/** The command that an operator is told to type, in words without the program's name; and nobody is asked again. */
export function commandIn(text: string): string[] {
  const [program, ...words] = text.trim().split(/\s+/)
  if (program !== 'hyperkube') throw new Error(`nobody can type "${text}"`)
  return words.includes('--yes') ? words : [...words, '--yes']
}
