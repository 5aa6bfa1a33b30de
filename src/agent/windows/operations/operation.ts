import { z } from 'zod'

/**
 * One thing that can be asked of a Windows host, as data. What is answered are the properties that Windows itself
 * documents, under its own names; the schema gives them ours.
 */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** PART.VERB, as the script knows it. */
  readonly name: string
  readonly input: I
  readonly output: O
  /** Whether it changes the host. What only looks may be asked again when no answer came. */
  readonly changes: boolean
  /** The commands that it runs, each of which has a row in commands.ts. */
  readonly uses: readonly string[]
  /** Milliseconds after which whoever was asked counts as hung. */
  readonly within: number
}

/** Whoever carries an operation to a host: a process of PowerShell, or a simulated host. */
export type Ask = <I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  input: z.input<I>,
  signal?: AbortSignal,
) => Promise<z.output<O>>

interface Wish<I extends z.ZodType, O extends z.ZodType> {
  readonly name: string
  readonly input: I
  readonly output: O
  readonly uses: readonly string[]
  readonly within?: number
}

export function looking<I extends z.ZodType, O extends z.ZodType>(wish: Wish<I, O>): Operation<I, O> {
  return { within: 30_000, ...wish, changes: false }
}

export function changing<I extends z.ZodType>(
  wish: Omit<Wish<I, typeof nothing>, 'output'>,
): Operation<I, typeof nothing> {
  return { within: 60_000, ...wish, output: nothing, changes: true }
}

/** The script answers with a list always: PowerShell itself makes no difference between one thing and a list of one. */
export function one<T extends z.ZodType>(schema: T) {
  return z
    .array(schema)
    .max(1)
    .transform(([first]): z.output<T> | undefined => first)
}

const nothing = z
  .array(z.never())
  .max(0)
  .transform(() => undefined)

export const noInput = z.strictObject({})

/** HNS writes them with capitals or without, as it pleases. */
export const guid = z.guid().transform((id) => id.toLowerCase())

/** A path from a drive on: with any other one the answer would depend on where PowerShell happens to be. */
export const path = z
  .string()
  .max(1000)
  // oxlint-disable-next-line no-control-regex -- these are the very characters to find
  .regex(/^[A-Za-z]:\\[^\u0000-\u001f<>:"|?*/]*$/)

export const instant = z.iso.datetime({ offset: true })
