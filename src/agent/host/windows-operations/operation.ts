import { z } from 'zod'
import { HyperkubeError } from '../../../kit/errors.ts'

/**
 * Describes one operation of a Windows host. The script returns properties with the names of the Windows
 * documentation; the output schema renames them.
 */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** Name in the form PART.VERB, for example `services.list`, as in the script host.ps1. */
  readonly name: string
  readonly input: I
  readonly output: O
  /**
   * True if the operation changes the host. Such an operation must not be repeated if its response is
   * missing.
   */
  readonly changes: boolean
  /** Commands that the operation runs. Each has a row in powershell-commands.ts. */
  readonly uses: readonly string[]
  /** Milliseconds after which the PowerShell process counts as hung. */
  readonly timeoutMs: number
}

/** Runs an operation on a host, through PowerShell or in the simulator. */
export type RunOperation = <I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  input: z.input<I>,
  signal?: AbortSignal,
) => Promise<z.output<O>>

interface OperationOptions<I extends z.ZodType, O extends z.ZodType> {
  readonly name: string
  readonly input: I
  readonly output: O
  readonly uses: readonly string[]
  readonly timeoutMs?: number
}

export function defineRead<I extends z.ZodType, O extends z.ZodType>(
  options: OperationOptions<I, O>,
): Operation<I, O> {
  return { timeoutMs: 30_000, ...options, changes: false }
}

export function defineChange<I extends z.ZodType>(
  options: Omit<OperationOptions<I, typeof noOutput>, 'output'>,
): Operation<I, typeof noOutput> {
  return { timeoutMs: 60_000, ...options, output: noOutput, changes: true }
}

/**
 * Output schema for operations with at most one result. The script always returns a list, because PowerShell
 * does not distinguish one value from a list of one.
 */
export function atMostOne<T extends z.ZodType>(schema: T) {
  return z
    .array(schema)
    .max(1)
    .transform(([first]): z.output<T> | undefined => first)
}

const noOutput = z
  .array(z.never())
  .max(0)
  .transform(() => undefined)

export const noInput = z.strictObject({})

/** Lower-case id, because HNS is inconsistent about capital letters. */
export const guid = z.guid().transform((id) => id.toLowerCase())

/** An absolute path with a drive. Other paths would depend on the working directory of PowerShell. */
export const windowsPath = z
  .string()
  .max(1000)
  // oxlint-disable-next-line no-control-regex -- these are the very characters to find
  .regex(/^[A-Za-z]:\\[^\u0000-\u001f<>:"|?*/]*$/)

export const timestamp = z.iso.datetime({ offset: true })

/**
 * Validates output of Windows and renames its properties to those of hyperkube. Fails if the output differs
 * from the documentation.
 */
export function readOutput<O extends z.ZodType>(
  operation: Operation<z.ZodType, O>,
  output: readonly unknown[],
): z.output<O> {
  const { success, data, error } = operation.output.safeParse(output)
  if (success) return data
  const [issue] = error.issues
  const where = issue?.path.join('.') ?? ''
  throw new HyperkubeError(
    'WINDOWS_UNEXPECTED_OUTPUT',
    `${operation.name} returned unexpected output: ${where}: ${issue?.message ?? ''}`,
  )
}
