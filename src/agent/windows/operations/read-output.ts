import type { z } from 'zod'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Operation } from './operation.ts'

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
    `${operation.name} answered with something else than is documented: ${where}: ${issue?.message ?? ''}`,
  )
}
