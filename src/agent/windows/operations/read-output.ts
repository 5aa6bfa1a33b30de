import type { z } from 'zod'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Operation } from './operation.ts'

/**
 * Validates output and maps it to our names. Output that differs from the documentation is an error; nothing
 * is guessed.
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
    `${operation.name} answered with something else than is documented: ${where}: ${issue?.message ?? ''}`,
  )
}
