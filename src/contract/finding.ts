import { z } from 'zod'

/** A position in a file that a person wrote. Lines and columns count from 1, as in editors. */
export const positionSchema = z.strictObject({
  file: z.string(),
  line: z.int().min(1),
  column: z.int().min(1),
})
export type Position = z.infer<typeof positionSchema>

/**
 * A certain or possible problem of a file, host or component. Validation, preflight and doctor all report
 * problems in this format.
 */
export const findingSchema = z.strictObject({
  /** Stable code that keeps its meaning across releases. */
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  severity: z.enum(['error', 'warning']),
  /** What is wrong, in one sentence without a full stop. */
  message: z.string(),
  /** What to do, preferably the command to type. */
  hint: z.string().optional(),
  position: positionSchema.optional(),
  /** Path of the affected field, for example spec.hosts[2].address. */
  path: z.string().optional(),
  host: z.string().optional(),
  component: z.string().optional(),
})
export type Finding = z.infer<typeof findingSchema>

/**
 * Returns a filter that is false for findings with an ignored code. Errors with a mandatory code cannot be
 * ignored.
 */
export function createIgnoreFilter(
  ignored: readonly string[],
  isMandatory: (code: string) => boolean = () => false,
): (finding: Finding) => boolean {
  return ({ code, severity }) => !ignored.includes(code) || (severity === 'error' && isMandatory(code))
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error')
}
