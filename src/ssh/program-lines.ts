import { HyperkubeError } from '../kit/errors.ts'
import { LineTooLongError, readLines } from '../kit/lines.ts'
import type { RunningProgram } from './remote.ts'

/** Describes the program in the error for a line that is too long. */
export interface ProgramOrigin {
  readonly host: string
  /** The program in messages, such as `journalctl`. */
  readonly what: string
  /** Command with which the operator can check the program. */
  readonly hint: string
}

/**
 * Yields the lines that a program on a host writes. A line that exceeds the limit kills the program, so that
 * no host can fill the memory. If the connection is lost, the lines end, and `ended` of the program rejects
 * with the cause.
 */
export function readProgramLines(
  program: Pick<RunningProgram, 'stdout' | 'kill'>,
  origin: ProgramOrigin,
  maxBytes?: number,
): AsyncGenerator<string> {
  // An error event without a listener would crash the process.
  program.stdout.on('error', () => undefined)
  return readUntilEnd(program, origin, maxBytes)
}

async function* readUntilEnd(
  { stdout, kill }: Pick<RunningProgram, 'stdout' | 'kill'>,
  { host, what, hint }: ProgramOrigin,
  maxBytes: number | undefined,
): AsyncGenerator<string> {
  const lines = readLines(stdout, maxBytes)
  for (;;) {
    let next
    try {
      next = await lines.next()
    } catch (error) {
      if (!(error instanceof LineTooLongError)) return
      kill()
      const message = `${what} wrote a line of more than ${formatMebibytes(error.maxBytes)} and was stopped`
      throw new HyperkubeError('SSH_OUTPUT_TOO_LONG', message, { host, hint })
    }
    if (next.done === true) return
    yield next.value
  }
}

function formatMebibytes(bytes: number): string {
  return `${Number((bytes / 2 ** 20).toFixed(2))} MiB`
}
