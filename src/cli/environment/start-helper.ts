import { startProcessChannel } from '../../ssh/process-channel.ts'
import type { HelperProcess } from '../command/command.ts'

/**
 * Starts this executable again. The process has its own process group, so Ctrl-C reaches only the first
 * process, which then ends the other one.
 */
export function startHelper(args: readonly string[]): HelperProcess {
  return startProcessChannel([process.execPath, ...args])
}
