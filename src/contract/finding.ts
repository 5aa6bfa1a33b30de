import { z } from 'zod'

/** A place in a file that a person wrote. Lines and columns count from 1, as editors do. */
export const positionSchema = z.strictObject({
  file: z.string(),
  line: z.int().min(1),
  column: z.int().min(1),
})
export type Position = z.infer<typeof positionSchema>

/**
 * Something that is, or may be, wrong: with a file, a host, a component. Validation, preflight and doctor all speak in
 * findings, so that a person learns to read them once.
 */
export const findingSchema = z.strictObject({
  /** Stable: a code keeps its meaning from release to release. */
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  severity: z.enum(['error', 'warning']),
  /** What is wrong, in one sentence without a full stop. */
  message: z.string(),
  /** What to do, best as the thing to type. */
  hint: z.string().optional(),
  position: positionSchema.optional(),
  /** Where in the document, as a path: spec.hosts[2].address. */
  path: z.string().optional(),
  host: z.string().optional(),
  component: z.string().optional(),
})
export type Finding = z.infer<typeof findingSchema>

/**
 * For a filter: what somebody has not said that they overlook. Errors of some codes cannot be overlooked, whatever is said.
 */
export function unlessIgnored(
  ignored: readonly string[],
  isNeeded: (code: string) => boolean = () => false,
): (finding: Finding) => boolean {
  return ({ code, severity }) => !ignored.includes(code) || (severity === 'error' && isNeeded(code))
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error')
}
