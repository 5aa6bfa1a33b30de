import type { z } from 'zod'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Operation } from './operation.ts'

/** What Windows says, in our words; where it is not what is documented, nothing is guessed. */
export function readOutput<O extends z.ZodType>(
  operation: Operation<z.ZodType, O>,
  output: readonly unknown[],
): z.output<O> {
  const { success, data, error } = operation.output.safeParse(output)
  if (success) return data
  const [issue] = error.issues
  const where = issue?.path.join('.') ?? ''
  throw new HyperkubeError(
    'WINDOWS_ANSWER_UNEXPECTED',
    `${operation.name} answered with something else than is documented: ${where}: ${issue?.message ?? ''}`,
  )
}
