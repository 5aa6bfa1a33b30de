import { win32 } from 'node:path'
import { toCommandError, runProgram } from '../../../kit/command.ts'
import type { RunCommand } from '../../host/command.ts'

/**
 * Runs programs of a Windows host with a fixed environment, regardless of how hyperkube was started. Windows
 * programs do not start without SystemRoot.
 */
export function windowsCommand(systemRoot: string): RunCommand {
  const system = win32.join(systemRoot, 'System32')
  const env = {
    SystemRoot: systemRoot,
    PATH: `${system};${systemRoot}`,
    TEMP: win32.join(systemRoot, 'Temp'),
  }
  return async (argv, { codes = [0], input, signal } = {}) => {
    const result = await runProgram(argv, {
      env,
      allowFailure: true,
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (codes.includes(result.code)) return result
    throw toCommandError(argv.join(' '), result)
  }
}
