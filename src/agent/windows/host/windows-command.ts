import { win32 } from 'node:path'
import { commandFailed, run } from '../../../kit/command.ts'
import type { Command } from '../../host/command.ts'

/** Runs programs of a Windows host, the same wherever we were started from. Without its root none of them starts. */
export function windowsCommand(systemRoot: string): Command {
  const system = win32.join(systemRoot, 'System32')
  const env = {
    SystemRoot: systemRoot,
    PATH: `${system};${systemRoot}`,
    TEMP: win32.join(systemRoot, 'Temp'),
  }
  return async (argv, { codes = [0], input, signal } = {}) => {
    const result = await run(argv, {
      env,
      allowFailure: true,
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (codes.includes(result.code)) return result
    throw commandFailed(argv.join(' '), result)
  }
}
