import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Argv } from '../../kit/command.ts'

/**
 * Runs a program with the terminal of this process. The terminal sends Ctrl-C to both processes, so this
 * function only waits until the program ends. If a signal ended the program, returns the exit code that
 * shells report.
 */
export async function runForeground(
  [program, ...args]: Argv,
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const ended = Promise.withResolvers<number>()
  const child = spawn(program, args, { stdio: 'inherit', env })
  child.on('error', ended.reject)
  child.on('exit', (code, signal) =>
    ended.resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
  )
  return ended.promise
}
