import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { type Event, eventFormat } from '../../src/contract/event.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import type { Argv } from '../../src/kit/command.ts'

/** A command that writes events to standard error. */
export interface EventCommand {
  readonly pid: number
  kill(signal: 'SIGKILL' | 'SIGINT'): void
  readonly ended: Promise<CommandEnd>
}

export interface CommandEnd {
  /** Exit code as in a shell: 128 plus the signal number if a signal ended the command. */
  readonly code: number
  readonly events: readonly Event[]
  /** Output of the command except events. */
  readonly output: string
}

export function startEventCommand(
  [program, ...args]: Argv,
  env: Readonly<Record<string, string>>,
  onEvent: (event: Event) => void,
): EventCommand {
  const child = spawn(program, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be run`)
  const events: Event[] = []
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  createInterface({ input: child.stderr }).on('line', (line) => {
    const event = parseEvent(line)
    if (event === undefined) {
      output += `${line}\n`
      return
    }
    events.push(event)
    onEvent(event)
  })
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    )
  })
  return {
    pid,
    kill: (signal) => void child.kill(signal),
    ended: ended.then((code) => ({ code, events, output })),
  }
}

/**
 * Parses an event. Returns undefined for other output, and for a line that a killed command did not finish.
 */
function parseEvent(line: string): Event | undefined {
  try {
    return readVersioned(eventFormat, JSON.parse(line))
  } catch {
    return undefined
  }
}
